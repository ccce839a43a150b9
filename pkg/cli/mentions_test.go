package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
)

// TestMentionedCommands proves that every command that a message, a help text, or a page mentions exists, with its
// subcommand and its flags. No other test finds hints that name a command of an earlier version.
func TestMentionedCommands(t *testing.T) {
	root := newRoot(&console.App{}, commands())
	root.InitDefaultHelpCmd()
	found := 0
	check := func(file, text string) {
		for _, m := range regexp.MustCompile("(?:^|[\"`$]|: |\\b(?:run|use|with|sudo|in) )\\$? ?skillpm ([a-z][a-z-]*[^\"`\\n|;&>()]*)").
			FindAllStringSubmatch(text, -1) {
			found++
			if problem := unknownIn(root, strings.Fields(m[1])); problem != "" {
				t.Errorf("%s: skillpm %s: %s", file, m[1], problem)
			}
		}
	}
	for _, dir := range []string{"../../pkg", "../../docs", "../../README.md", "../../action.yml", "../../setup", "../../schema", "../../.github"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") ||
				strings.HasSuffix(path, "elsewhere.go") {
				return err
			}
			switch filepath.Ext(path) {
			case ".go":
				for _, text := range literals(t, path) {
					check(path, text)
				}
			case ".md", ".yml", ".yaml", ".json":
				data, err := os.ReadFile(path)
				check(path, string(data))
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if t.Logf("%d commands", found); found < 400 {
		t.Errorf("only %d commands were found", found)
	}
}

// literals returns the string literals of a Go file.
func literals(t *testing.T, path string) (texts []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// unknownIn returns the unknown part of a command line, or "".
func unknownIn(root *cobra.Command, words []string) string {
	cmd := root
	for i, word := range words {
		name, _, _ := strings.Cut(strings.Trim(word, `.,:'\`), "=")
		switch {
		case word == "--":
			return ""
		case strings.HasPrefix(name, "--"):
			cmd.InheritedFlags()
			if f := cmd.Flag(name[2:]); f == nil && name != "--help" {
				return name + " does not exist"
			}
		case i > 0 && !cmd.HasSubCommands(), strings.HasPrefix(name, "-"):
		default:
			next, _, err := cmd.Find([]string{name})
			if next == cmd && cmd != root && cmd.Name() == "log" {
				continue // an argument
			}
			if err != nil || next == cmd {
				if strings.ToLower(name) != name || strings.ContainsAny(name, "%{$<[…") || cmd == root && i > 0 {
					return "" // a placeholder
				}
				if cmd == root && isProse(root, word) {
					return ""
				}
				return name + " does not exist"
			}
			cmd = next
		}
	}
	return ""
}

// isProse reports whether the word after skillpm belongs to a sentence: a verb that is not a command of another tool.
func isProse(root *cobra.Command, word string) bool {
	switch word {
	case "as", "can", "cannot", "catalog", "configuration", "could", "creates", "did", "ended", "fetches", "first", "installs,",
		"itself", "keeps", "kept", "last", "looks", "may", "never", "no", "only.", "reads", "skips",
		"pack", "tests": // "skillpm pack 1" begins a file
		return true
	}
	for _, ending := range []string{"s", "es", "d", "ed"} {
		if verb, ok := strings.CutSuffix(word, ending); ok && slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool {
			return c.Name() == verb
		}) {
			return true
		}
	}
	hint := diag.HintOf(console.UnknownCommand(root, []string{word}))
	return hint == "list the commands with: skillpm help" && (strings.HasSuffix(word, "s") || strings.HasSuffix(word, "ed"))
}
