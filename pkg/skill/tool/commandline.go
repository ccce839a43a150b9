package tool

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of a command line that is matched: its length in bytes, and the words of its commands.
const (
	maxLine  = 64 << 10
	maxWords = 4096
)

// command is a simple command, as words.
type command struct {
	words []word
	text  string // as written
}

// word is a word without its quotes.
type word struct {
	text  string
	loose bool // it expands to an unknown value: $HOME, {a,b}
	globs bool // it may expand to file names: *, ?, [
}

// star represents an unquoted * in the words of a pattern. Words of a line never contain it.
const star = '\x00'

// literalTilde starts a word whose ~ is quoted, so that it is not the home directory.
const literalTilde = "\x01~"

// Reasons why a line cannot be matched.
const (
	hasRedirection  = "it redirects from or to a file"
	hasBackticks    = "it contains a command in backticks"
	hasParentheses  = "it contains parentheses, which start a subshell, a substitution, or a function"
	hasComment      = "it contains a comment, which different shells read differently"
	hasInvisible    = "it contains invisible characters"
	hasUnclosed     = "it contains a quote that is never closed"
	hasLateClose    = "it contains a backslash before a closing quote, which different shells read differently"
	hasMoreThanThat = "it contains syntax other than lists and pipelines of commands"
	readDifferently = "different shells read it differently"
)

// split splits a line into the commands that a shell would run, or returns why it cannot. It accepts lists and
// pipelines of simple commands with known words, apart from variables. It refuses everything else, and syntax that
// bash, POSIX shells, and zsh read differently.
func split(line string) (commands []command, refused string) {
	withoutBoth := ""
	if refused := unreadable(line); refused != "" {
		return nil, refused
	}
	for _, variant := range []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX, syntax.LangZsh} {
		r := lineReader{line: line}
		if variant == syntax.LangPOSIX {
			r.line, r.posix = withoutBoth, true
		}
		if refused := r.read(variant); refused != "" {
			return nil, refused
		}
		if variant != syntax.LangBash && !slices.EqualFunc(commands, r.commands, sameWords) {
			return nil, readDifferently
		}
		commands = r.commands
		if r.words > maxWords {
			return nil, "it has too many words"
		}
		withoutBoth = cmp.Or(withoutBoth, r.splitBoth())
	}
	return commands, ""
}

// splitBoth splits the line as POSIX shells do: in &> FILE, & ends a command, and > opens a file for the next one.
func (r *lineReader) splitBoth() string {
	text, copied := strings.Builder{}, 0
	for _, i := range r.both {
		text.WriteString(r.line[copied:i] + "& ")
		copied = i + 1
	}
	return text.String() + r.line[copied:]
}

func sameWords(a, b command) bool {
	return slices.EqualFunc(a.words, b.words, func(x, y word) bool { return x.text == y.text })
}

// patternWords splits a pattern into words. It returns false unless the pattern is a simple command.
func patternWords(text string) ([]word, bool) {
	r := lineReader{line: text, pattern: true}
	if unreadable(text) != "" || r.read(syntax.LangBash) != "" || len(r.commands) != 1 || r.operators {
		return nil, false
	}
	return r.commands[0].words, true
}

// unreadable names a character that a line must not contain, or returns "".
func unreadable(line string) string {
	if len(line) > maxLine {
		return "it is too long"
	}
	for i, r := range line {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(line[i:], string(utf8.RuneError)):
			return "it is not valid UTF-8"
		case unicode.IsControl(r) && r != '\t' && r != '\n':
			return "it contains control characters"
		case unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
			return hasInvisible
		}
	}
	return ""
}

// lineReader collects the commands of a syntax tree.
type lineReader struct {
	line      string
	pattern   bool // convert an unquoted * to star
	posix     bool // the line is split as POSIX shells do
	commands  []command
	both      []int // offset of &>
	quotes    []syntax.WordPart
	operators bool // more than one command: there is a separator or a redirection
	words     int
}

// parsers are pooled, because allocating the buffers of a new one takes ten times as long as parsing a line.
var parsers sync.Pool

// newParser returns a parser of the pool. The caller puts it back.
func newParser(variant syntax.LangVariant) *syntax.Parser {
	parser, _ := parsers.Get().(*syntax.Parser)
	if parser == nil {
		parser = syntax.NewParser(syntax.KeepComments(true))
	}
	syntax.Variant(variant)(parser)
	return parser
}

// read parses the line, and returns why it cannot be matched, or "".
func (r *lineReader) read(variant syntax.LangVariant) string {
	parser := newParser(variant)
	defer parsers.Put(parser)
	file, err := parser.Parse(strings.NewReader(r.line), "")
	if err != nil {
		return r.unparsed(err)
	}
	if len(file.Last) > 0 {
		return hasComment
	}
	r.operators = len(file.Stmts) > 1
	for _, s := range file.Stmts {
		if refused := r.statement(s); refused != "" {
			return refused
		}
	}
	if r.joinsTokens() {
		return readDifferently
	}
	return ""
}

// joinsTokens reports whether a line continuation outside of quotes does not follow a space. Shells differ about one in
// an operator, such as 2>, &>, or &&.
func (r *lineReader) joinsTokens() bool {
	slices.SortFunc(r.quotes, func(a, b syntax.WordPart) int { return cmp.Compare(a.Pos().Offset(), b.Pos().Offset()) })
	quotes := r.quotes
	for at := 0; ; {
		i := strings.Index(r.line[at:], "\\\n")
		if i < 0 {
			return false
		}
		before := at + i - 1
		at += i + 2
		for len(quotes) > 0 && int(quotes[0].End().Offset()) <= at {
			quotes = quotes[1:] // lines may have thousands
		}
		quoted := len(quotes) > 0 && int(quotes[0].Pos().Offset()) < at
		if before >= 0 && r.line[before] != ' ' && r.line[before] != '\t' && !quoted {
			return true
		}
	}
}

// unparsed explains a syntax error.
func (r *lineReader) unparsed(err error) string {
	message := err.Error()
	switch {
	case strings.Contains(message, "quote"):
		return hasUnclosed
	case strings.Contains(message, "(") || strings.Contains(message, ")"):
		return hasParentheses
	}
	return hasMoreThanThat
}

func (r *lineReader) statement(s *syntax.Stmt) string {
	if len(s.Comments) > 0 {
		return hasComment
	}
	if s.Negated || s.Coprocess || s.Disown {
		return hasMoreThanThat
	}
	r.operators = r.operators || s.Semicolon.IsValid() || s.Background || len(s.Redirs) > 0
	for _, redirect := range s.Redirs {
		if !harmless(redirect) {
			return hasRedirection
		}
		if redirect.Op == syntax.RdrAll || redirect.Op == syntax.AppAll {
			at := int(redirect.OpPos.Offset())
			if at > 0 && strings.IndexByte(" \t\n", r.line[at-1]) < 0 {
				return readDifferently // some shells read 2&> as one operator
			}
			r.both = append(r.both, at)
		}
	}
	end := s.Pos()
	if s.Cmd != nil {
		end = s.Cmd.End()
	}
	for _, redirect := range s.Redirs {
		if redirect.End().After(end) {
			end = redirect.End()
		}
	}
	c := command{text: r.source(s.Pos(), end)}
	switch cmd := s.Cmd.(type) {
	case nil:
		if !r.posix { // zsh runs cat
			return readDifferently
		}
		return ""
	case *syntax.BinaryCmd:
		r.operators = true
		if refused := r.statement(cmd.X); refused != "" {
			return refused
		}
		return r.statement(cmd.Y)
	case *syntax.CallExpr:
		if refused := r.assignments(&c, cmd.Assigns); refused != "" {
			return refused
		}
		for _, w := range cmd.Args {
			if refused := r.add(&c, "", w); refused != "" {
				return refused
			}
		}
		if args := c.words[len(cmd.Assigns):]; len(args) > 0 && isKeyword(args[0].text) {
			return readDifferently
		}
	case *syntax.DeclClause: // export and similar commands
		c.words = append(c.words, word{text: cmd.Variant.Value})
		if refused := r.assignments(&c, cmd.Args); refused != "" {
			return refused
		}
	case *syntax.Subshell, *syntax.FuncDecl:
		return hasParentheses
	default:
		return hasMoreThanThat
	}
	if evaluates(c.words) {
		return "a builtin of the shell could evaluate a substitution in its arguments"
	}
	r.commands = append(r.commands, c)
	r.words += len(c.words)
	return ""
}

// isKeyword reports whether some shells do not read a word at the beginning of a command as a program. In zsh, é=1 and
// 1=2 are assignments.
func isKeyword(text string) bool {
	switch text {
	case "if", "then", "elif", "else", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
		"time", "function", "coproc", "foreach", "end", "repeat", "nocorrect", "noglob", "-", "!", "{", "}", "[[", "]]",
		"float", "integer", "private", "nameref", "namespace", "always", "alias", "enum", "compound":
		return true
	}
	return strings.Contains(text, "=") || strings.HasSuffix(text, ":") && text != ":" // a label in ksh
}

// evaluates reports whether a command is a builtin that evaluates the index in the name of a variable, as in
// printf -v 'a[$(program)]'.
func evaluates(words []word) bool {
	i := slices.IndexFunc(words, func(w word) bool { return !isAssignment(w.text) })
	if i < 0 {
		return false
	}
	switch words[i].text {
	case "printf", "print", "test", "[", "read", "let", "declare", "typeset", "local", "export", "readonly", "unset",
		"wait", "mapfile", "readarray", "getopts", "shift", "return", "exit", "set", "builtin", "command":
		return slices.ContainsFunc(words[i+1:], func(w word) bool {
			_, index, ok := strings.Cut(w.text, "[")
			return ok && strings.ContainsAny(index, "$`")
		})
	}
	return false
}

// source returns the text between two positions.
func (r *lineReader) source(start, end syntax.Pos) string { return r.line[start.Offset():end.Offset()] }

// harmless reports whether a redirection duplicates or closes a stream, or writes to /dev/null. All others open a file.
func harmless(r *syntax.Redirect) bool {
	if r.N != nil && (len(r.N.Value) > 1 || strings.Trim(r.N.Value, "0123456789") != "") || r.Hdoc != nil {
		return false // some shells read 10> as the word 10 and >
	}
	target := r.Word.Lit()
	switch r.Op {
	case syntax.DplOut:
		return target == "-" || target != "" && strings.Trim(target, "0123456789") == ""
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrAll, syntax.AppAll:
		return target == "/dev/null"
	}
	return false
}

// assignments adds NAME=value, and the arguments of export and similar commands.
func (r *lineReader) assignments(c *command, all []*syntax.Assign) string {
	for _, a := range all {
		prefix := ""
		if a.Append || a.Index != nil { // POSIX shells run a program with that name
			return readDifferently
		}
		if a.Name != nil {
			prefix = a.Name.Value
			if !a.Naked {
				end := a.End()
				if a.Value != nil {
					end = a.Value.Pos()
				}
				prefix = r.source(a.Name.Pos(), end)
			}
		}
		if a.Array != nil || strings.Trim(prefix, letters+"0123456789_=") != "" {
			return hasParentheses
		}
		if refused := r.add(c, prefix, a.Value); refused != "" {
			return refused
		}
	}
	return ""
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
