package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// writeMessages writes every message of the program, for a check of their language: the texts of pkg/a/b.go become
// DIR/pkg/a/b.go.md, each on the line that it has in the source, so that a finding leads there. A message is a string
// with at least two words in a row that is not a pattern, a tag, or an import.
func writeMessages(root, dir string) error {
	patterns := messagePatterns()
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if notMessages(filepath.ToSlash(name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			notMessages(filepath.ToSlash(name)) {
			return nil
		}
		text, err := fileMessages(path, patterns)
		if err != nil || text == "" {
			return err
		}
		to := filepath.Join(dir, name+".md")
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, []byte(text), 0o644)
	})
}

// notMessages reports directories and files whose strings users do not read: test programs, and phrases that validation
// looks for.
func notMessages(name string) bool {
	switch name {
	case "pkg/internal/testkit", "pkg/cli/internal/e2e", "pkg/cli/internal/gendocs", "pkg/internal/scan/phrases.go",
		"pkg/internal/scan/builtin.go", "pkg/internal/scan/rulefile/frequency.go":
		return true
	}
	base := name[strings.LastIndex(name, "/")+1:]
	return base == "testdata" || base == "dist" || base != "." && strings.HasPrefix(base, ".")
}

// fileMessages returns the messages of a Go file, each on its line.
func fileMessages(path string, patterns messageRx) (string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	var page []string
	put := func(line int, text string) {
		for len(page) < line {
			page = append(page, "")
		}
		for line <= len(page) && page[line-1] != "" { // two messages on one line
			line++
		}
		for len(page) < line {
			page = append(page, "")
		}
		page[line-1] = text
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				n.Tag = nil
			}
		case *ast.KeyValueExpr: // the examples of rules are not messages
			if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Bad" || key.Name == "Good") {
				return false
			}
		case *ast.CallExpr:
			if isPattern(n) {
				return false
			}
		case *ast.BinaryExpr:
			if text, ok := joined(n); ok {
				putMessage(put, patterns, fset.Position(n.Pos()).Line, text)
				return false
			}
		case *ast.BasicLit:
			if text, ok := joined(n); ok {
				putMessage(put, patterns, fset.Position(n.Pos()).Line, text)
			}
		}
		return true
	})
	if len(page) == 0 {
		return "", nil
	}
	return strings.Join(page, "\n") + "\n", nil
}

// isPattern reports calls whose strings are regular expressions or templates.
func isPattern(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := sel.X.(*ast.Ident)
	return ok && of.Name == "regexp"
}

// joined returns a string literal, or the concatenation of several, with X for what is not literal.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.ParenExpr:
		return joined(e.X)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, leftOK := joined(e.X)
		right, rightOK := joined(e.Y)
		if !leftOK && !rightOK {
			return "", false
		}
		if !leftOK {
			left = "X"
		}
		if !rightOK {
			right = "X"
		}
		return left + right, true
	}
	return "", false
}

// messageRx are the patterns that recognize and clean messages.
type messageRx struct{ verb, words, page, code, space *regexp.Regexp }

func messagePatterns() messageRx {
	return messageRx{
		verb:  regexp.MustCompile(`%[-+# 0-9.*\[\]]*[a-zA-Z]`),
		words: regexp.MustCompile(`[A-Za-z]{2,}[,;:]? [a-z]+\b`),
		page:  regexp.MustCompile(`^\s*<|\{[a-z-]+:`), // HTML or CSS
		code:  regexp.MustCompile(`[{}\\<>]|=>|://\S*`),
		space: regexp.MustCompile(`\s+`),
	}
}

// putMessage puts a string on the page if it is a message. A text of several lines, such as a command's description,
// keeps them.
func putMessage(put func(int, string), patterns messageRx, line int, text string) {
	text = patterns.verb.ReplaceAllStringFunc(text, placeholder)
	oneLine := strings.ReplaceAll(text, "\n", " ")
	if !patterns.words.MatchString(oneLine) || patterns.page.MatchString(oneLine) {
		return
	}
	if !strings.Contains(strings.TrimSpace(text), "\n") {
		put(line, "- "+clean(patterns, text))
		return
	}
	for i, part := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(part) == "":
		case strings.HasPrefix(part, "  "), strings.HasPrefix(part, "\t"): // an example
		default:
			put(line+i, clean(patterns, part))
		}
	}
}

func clean(patterns messageRx, text string) string {
	text = patterns.code.ReplaceAllString(text, " ")
	text = strings.NewReplacer("*", " ", "[", "(", "]", ")", "|", " ", "#", " ").Replace(text)
	return strings.TrimSpace(patterns.space.ReplaceAllString(text, " "))
}

// placeholder returns a word that can stand for what a verb of fmt prints.
func placeholder(verb string) string {
	switch verb[len(verb)-1] {
	case 'd':
		return "2"
	case 'q':
		return `"NAME"`
	case '%':
		return "%"
	}
	return "NAME"
}
