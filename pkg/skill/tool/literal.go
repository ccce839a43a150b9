package tool

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literalLine reports whether every word of a line is literal, and its commands are joined only by &&, ||, ;, and
// pipes. Redirections, variables, substitutions, wildcards, and assignments make the line not literal.
func literalLine(line string) bool {
	if unreadable(line) != "" {
		return false
	}
	parser := newParser(syntax.LangBash)
	defer parsers.Put(parser)
	file, err := parser.Parse(strings.NewReader(line), "")
	if err != nil || len(file.Last) > 0 || len(file.Stmts) == 0 {
		return false
	}
	return !slices.ContainsFunc(file.Stmts, func(s *syntax.Stmt) bool { return !literalStatement(s) })
}

func literalStatement(s *syntax.Stmt) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(s.Comments) > 0 {
		return false
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return cmd.Op != syntax.PipeAll && literalStatement(cmd.X) && literalStatement(cmd.Y)
	case *syntax.CallExpr:
		if len(cmd.Assigns) > 0 || len(cmd.Args) == 0 {
			return false
		}
		program := cmd.Args[0].Lit() // quotes and backslashes would bypass an alias
		return program != "" && !strings.Contains(program, `\`) &&
			!slices.ContainsFunc(cmd.Args, func(w *syntax.Word) bool { return !literalWord(w) })
	}
	return false
}

// bare are the characters that no shell interprets outside of quotes, with any of its options. A word must not begin
// with =, which zsh expands to the path of a program. Only an unquoted ~/ at its beginning is the home directory.
const bare = letters + "0123456789_-./,:@+%="

// expandsToPath reports whether zsh could replace text by the path of a program: =ls, or with an option a==ls and
// a:=ls.
func expandsToPath(text string, first bool) bool {
	return first && strings.HasPrefix(text, "=") || strings.Contains(text, "==") || strings.Contains(text, ":=")
}

// literalWord reports whether a word expands to itself in every shell.
func literalWord(w *syntax.Word) bool {
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text := p.Value
			if i == 0 {
				text = strings.TrimPrefix(text, "~/")
			}
			if strings.Trim(text, bare) != "" || expandsToPath(text, i == 0) {
				return false
			}
		case *syntax.SglQuoted:
			if p.Dollar || strings.HasPrefix(p.Value, "~") {
				return false
			}
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				text, ok := inner.(*syntax.Lit)
				if !ok || strings.HasPrefix(text.Value, "~") {
					return false
				}
			}
			if p.Dollar {
				return false
			}
		default:
			return false
		}
	}
	return true
}
