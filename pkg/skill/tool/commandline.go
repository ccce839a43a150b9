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

// maxLine is the maximum length of a command line that is matched, in bytes.
const maxLine = 64 << 10

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
			r.line = withoutBoth
		}
		if refused := r.read(variant); refused != "" {
			return nil, refused
		}
		if variant != syntax.LangBash && !slices.EqualFunc(commands, r.commands, sameWords) {
			return nil, readDifferently
		}
		commands = r.commands
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
	commands  []command
	both      []int // offset of &>
	operators bool  // more than one command: there is a separator or a redirection
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
	return ""
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
			r.both = append(r.both, int(redirect.OpPos.Offset()))
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
	r.commands = append(r.commands, c)
	return ""
}

// source returns the text between two positions.
func (r *lineReader) source(start, end syntax.Pos) string { return r.line[start.Offset():end.Offset()] }

// harmless reports whether a redirection duplicates or closes a stream, or writes to /dev/null. All others open a file.
func harmless(r *syntax.Redirect) bool {
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" || r.Hdoc != nil {
		return false
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
		if a.Array != nil || strings.Trim(prefix, letters+"0123456789_+=[]") != "" {
			return hasParentheses
		}
		if refused := r.add(c, prefix, a.Value); refused != "" {
			return refused
		}
	}
	return ""
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// add appends a word to a command, after a literal prefix.
func (r *lineReader) add(c *command, prefix string, w *syntax.Word) string {
	b := wordBuilder{reader: r}
	b.text.WriteString(prefix)
	if w != nil {
		for i, part := range w.Parts {
			if refused := b.part(part, i > 0 && isVariable(w.Parts[i-1])); refused != "" {
				return refused
			}
		}
	}
	c.words = append(c.words, word{text: b.text.String(), loose: b.loose, globs: b.globs})
	return ""
}

func isVariable(p syntax.WordPart) bool {
	_, ok := p.(*syntax.ParamExp)
	return ok
}

// wordBuilder removes the quotes of a word.
type wordBuilder struct {
	reader       *lineReader
	text         strings.Builder
	loose, globs bool
}

// part adds a part of a word. afterVariable reports that it follows a variable.
func (b *wordBuilder) part(part syntax.WordPart, afterVariable bool) string {
	source := b.reader.source(part.Pos(), part.End())
	switch p := part.(type) {
	case *syntax.Lit:
		if afterVariable && strings.HasPrefix(source, "[") { // an index in zsh
			return substitution(source)
		}
		return b.unquoted(source, b.reader.line[part.End().Offset():])
	case *syntax.SglQuoted:
		switch {
		case p.Dollar:
			return substitution(source)
		case strings.HasSuffix(p.Value, `\`):
			return hasLateClose
		}
		b.text.WriteString(p.Value)
		return ""
	case *syntax.DblQuoted:
		if p.Dollar {
			return substitution(source)
		}
		for _, inner := range p.Parts {
			if refused := b.doubleQuoted(inner); refused != "" {
				return refused
			}
		}
		return ""
	case *syntax.ParamExp:
		return b.variable(source)
	case *syntax.CmdSubst:
		if p.Backquotes {
			return hasBackticks
		}
		return substitution(source)
	}
	return hasParentheses
}

func substitution(source string) string {
	return "it contains a substitution, " + quoted(source[:min(len(source), 8)])
}

// variable adds $NAME, ${NAME}, and $?, whose values are unknown but stay in words of this command. Other expansions
// can run commands.
func (b *wordBuilder) variable(source string) string {
	name := strings.TrimPrefix(source, "$")
	if inner, ok := strings.CutPrefix(name, "{"); ok {
		name = strings.TrimSuffix(inner, "}")
	} else if name == "?" {
		name = "_"
	}
	if name == "" || strings.Trim(name, letters+"0123456789_") != "" || unicode.IsDigit(rune(name[0])) {
		return substitution(source)
	}
	b.text.WriteString(source)
	b.loose = true
	return ""
}

// unquoted adds unquoted text. after is the next text in the line.
func (b *wordBuilder) unquoted(source, after string) string {
	for i := 0; i < len(source); i++ {
		switch c := source[i]; c {
		case '\\':
			i++
			if i == len(source) {
				return "it ends with a backslash"
			}
			if source[i] != '\n' {
				b.text.WriteByte(source[i])
			}
			continue
		case '$':
			if refused := literalDollar(source[i:]+after, " \t\n/.,"); refused != "" {
				return refused
			}
		case '{', '}':
			b.loose = true
		case '*', '?', '[':
			if b.globs = true; b.reader.pattern && c == '*' {
				c = star
			}
			b.text.WriteByte(c)
			continue
		case '(', ')':
			return hasParentheses
		}
		b.text.WriteByte(source[i])
	}
	if strings.ContainsFunc(source, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsSpace(r) }) {
		return hasInvisible
	}
	return ""
}

// literalDollar refuses a dollar sign unless it is last or followed by one of these characters.
func literalDollar(start, harmless string) string {
	if len(start) == 1 || strings.IndexByte(harmless, start[1]) >= 0 {
		return ""
	}
	return substitution(start)
}

// doubleQuoted adds a part of a double-quoted text.
func (b *wordBuilder) doubleQuoted(part syntax.WordPart) string {
	source := b.reader.source(part.Pos(), part.End())
	if _, ok := part.(*syntax.Lit); !ok {
		return b.part(part, false)
	}
	after := b.reader.line[part.End().Offset():]
	for i := 0; i < len(source); i++ {
		c := source[i]
		if c == '$' {
			if refused := literalDollar(source[i:]+after, " \t\n/.,\""); refused != "" {
				return refused
			}
		}
		if c == '\\' && i+1 == len(source) && strings.HasPrefix(after, "\n") {
			continue // a line continuation
		}
		if c == '\\' && i+1 < len(source) && strings.IndexByte("\"\\$`\n", source[i+1]) >= 0 {
			i++
			if c = source[i]; c == '\n' {
				continue
			}
		}
		b.text.WriteByte(c)
	}
	return ""
}
