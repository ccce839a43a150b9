package tool

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// unknownPart replaces a part of a word whose value is unknown.
const unknownPart = "$(...)"

// everyCommand returns all simple commands of a line, also those in substitutions, functions, and loops, which split
// refuses. It returns what it can read of a line with a syntax error.
func everyCommand(line string) (commands []command) {
	for _, variant := range []syntax.LangVariant{syntax.LangBash, syntax.LangZsh} {
		file, _ := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(line), "")
		if file == nil {
			continue
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Stmt:
				if call, ok := n.Cmd.(*syntax.CallExpr); ok {
					words := append(callWords(call.Assigns, call.Args), inputOf(n)...)
					commands = append(commands, command{words: words})
				}
			case *syntax.DeclClause:
				words := append([]word{{text: n.Variant.Value}}, callWords(n.Args, nil)...)
				commands = append(commands, command{words: words})
			}
			return true
		})
	}
	return commands
}

// inputOf returns the arguments that are equal to a here-document of a shell: -c and its text.
func inputOf(s *syntax.Stmt) []word {
	for _, r := range s.Redirs {
		switch {
		case r.Hdoc != nil:
			return []word{{text: "-c"}, looseWord(r.Hdoc)}
		case r.Op == syntax.WordHdoc:
			return []word{{text: "-c"}, looseWord(r.Word)}
		}
	}
	return nil
}

// callWords returns the words of a command, with its assignments.
func callWords(assigns []*syntax.Assign, args []*syntax.Word) (words []word) {
	for _, a := range assigns {
		w := word{loose: true}
		if a.Value != nil {
			w = looseWord(a.Value)
		}
		if a.Name != nil {
			w.text = a.Name.Value + "=" + w.text
		}
		words = append(words, w)
		if a.Array == nil {
			continue
		}
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				words = append(words, looseWord(e.Value))
			}
		}
	}
	for _, arg := range args {
		words = append(words, looseWord(arg))
	}
	return words
}

// looseWord returns a word without its quotes, and with unknownPart for each part whose value is unknown.
func looseWord(w *syntax.Word) (out word) {
	var text strings.Builder
	unknown := func() {
		text.WriteString(unknownPart)
		out.loose = true
	}
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			out.loose = out.loose || strings.ContainsAny(p.Value, "{}")
			out.globs = out.globs || strings.ContainsAny(p.Value, "*?[")
			text.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				unknown()
			} else {
				text.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if l, ok := inner.(*syntax.Lit); ok {
					text.WriteString(unescape(l.Value))
				} else {
					unknown()
				}
			}
		default:
			unknown()
		}
	}
	out.text = text.String()
	return out
}

// unescape removes backslashes that quote the next character.
func unescape(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// couldBeOwn reports whether a shell could expand a word to skillpm, by variables, braces, or wildcards.
func couldBeOwn(w word) bool {
	if !w.loose && !w.globs {
		return false
	}
	base := path.Base(unknownParts().ReplaceAllString(strings.ToLower(w.text), string(star)))
	base = strings.TrimPrefix(base, "=") // of zsh: the path of the program
	return wildcard(base, "skillpm", star)
}

// unknownParts matches variables, braces, and wildcards.
var unknownParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\(\.\.\.\)|\$\{[^}]*\}|\$\w+|\$.|\{.*(?:,|\.\.).*\}|\[.*\]|[*?]`)
})

// scriptOf returns the command line that a shell, eval, or a similar command runs. Its text is empty if the command
// reads it from its standard input, or if it is unknown. program reports that the first word is certainly run.
func scriptOf(words []word, program bool) (script word, ok bool) {
	switch base := path.Base(words[0].text); base {
	case "eval", "trap":
		return joined(words[1:]), program && len(words) > 1
	case "source", ".":
		return word{}, program && len(words) > 1 && unknownFile(words[1])
	case "bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "mksh", "rbash":
		return shellScript(words[1:], program)
	}
	return word{}, false
}

// shellScript returns the command line in the arguments of a shell. A script in a file is not read.
func shellScript(args []word, program bool) (script word, ok bool) {
	inLine := false
	for i := 0; i < len(args); i++ {
		text := args[i].text
		switch {
		case text == "--version" || text == "--help":
			return word{}, false
		case text == "-" || text == "--":
		case strings.HasPrefix(text, "--"):
			if text == "--rcfile" || text == "--init-file" {
				i++
			}
		case strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+"):
			inLine = inLine || strings.Contains(text, "c")
			if strings.HasPrefix(text, "-s") {
				return word{}, program
			}
			if strings.HasSuffix(text, "o") || strings.HasSuffix(text, "O") {
				i++
			}
		case inLine:
			return args[i], true
		default:
			return word{}, program && unknownFile(args[i])
		}
	}
	return word{}, program || inLine
}

// unknownFile reports whether a script is not in a file of its own.
func unknownFile(w word) bool {
	return w.text == unknownPart || strings.HasPrefix(w.text, "/dev/") || strings.HasPrefix(w.text, "/proc/")
}

// joined returns words as one, as eval does.
func joined(words []word) (out word) {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
		out.loose = out.loose || w.loose
	}
	out.text = strings.Join(texts, " ")
	return out
}

// unknownInPowerShell returns the part of a PowerShell line that runs a program with a computed name, "" for none.
func unknownInPowerShell(line string) string { return computedPrograms().FindString(line) }

// computedPrograms matches the operators that run the value of an expression, Invoke-Expression, aliases of skillpm,
// encoded commands, and variables of cmd.
var computedPrograms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)&\s*["']?[($].*|(?:^|[;&|{(\s])\.\s+["']?[($].*|\b(?:iex|invoke-expression)\b.*|` +
		`\b(?:sal|nal|set-alias|new-alias)\b.*skillpm.*|\s[-/]e(?:c|nc\w*)\s+\S+|(?:^|[&|]|/c)\s*"?%.*`)
})
