package tool

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine is how many bytes a command line may have that patterns are held against.
const maxLine = 64 << 10

// command is one command of a line, as words.
type command struct {
	words []word
	text  string // as it is written
}

// word is a word without its quotes.
type word struct {
	text  string
	loose bool // the shell makes something else of it that is not known: $HOME, {a,b}
	globs bool // the shell makes names of files of it where it finds some: *, ?, [
}

// star stands for a * that is not in quotes, in the words of a pattern. No word of a line has it.
const star = '\x00'

// split cuts a line into the commands that a shell would run, and says why that can't be done: what the shell would
// make something else of, so that a pattern that fits the text need not fit what runs. It knows what POSIX shells, bash
// and zsh have in common, and refuses where they differ.
func split(line string) (commands []command, refused string) {
	if len(line) > maxLine {
		return nil, "it is too long"
	}
	s := splitter{line: line}
	return s.run()
}

// splitter reads a line once.
type splitter struct {
	line     string
	pos      int
	pattern  bool // unquoted * become star
	commands []command
	words    []word
	start    int // of the command
	word     strings.Builder
	quoted   bool // the word has quotes, so that it is one even when it is empty
	loose    bool
	globs    bool
}

func (s *splitter) run() ([]command, string) {
	for s.pos < len(s.line) {
		if refused := s.step(); refused != "" {
			return nil, refused
		}
	}
	s.endCommand(len(s.line))
	return s.commands, ""
}

// step reads what comes next, or says why it can't be.
func (s *splitter) step() string {
	c := s.line[s.pos]
	switch c {
	case ' ', '\t':
		s.endWord()
	case '\n', ';', '&', '|':
		s.endCommand(s.pos)
		s.start = s.pos + 1
	case '\'':
		return s.single()
	case '"':
		return s.double()
	case '\\':
		return s.backslash()
	case '$':
		return s.dollar(false)
	case '`':
		return "it has a command in backticks"
	case '(', ')':
		return "it has parentheses, which start a subshell, a substitution or a function"
	case '<', '>':
		return s.redirection()
	case '#':
		if s.word.Len() == 0 && !s.quoted {
			return "it has a comment, after which shells differ"
		}
		s.word.WriteByte(c)
	case '{', '}', '~':
		s.loose = s.loose || c != '~'
		s.word.WriteByte(c)
	case '*', '?', '[':
		if s.globs = true; s.pattern && c == '*' {
			c = star
		}
		s.word.WriteByte(c)
	default:
		return s.letter(false)
	}
	s.pos++
	return ""
}

// letter takes characters that have no meaning of their own.
func (s *splitter) letter(quoted bool) string {
	n := s.pos
	for n < len(s.line) && ordinary(s.line[n]) {
		n++
	}
	if n > s.pos {
		s.word.WriteString(s.line[s.pos:n])
		s.pos = n
		return ""
	}
	r, size := utf8.DecodeRuneInString(s.line[s.pos:])
	switch {
	case r == utf8.RuneError && size < 2:
		return "it is no UTF-8"
	case unicode.IsControl(r) && (!quoted || r != '\t' && r != '\n'):
		return "it has control characters"
	case !quoted && unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
		return "it has characters that can't be seen"
	}
	s.word.WriteString(s.line[s.pos : s.pos+size])
	s.pos += size
	return ""
}

// ordinary reports whether a byte means nothing to a shell, wherever it stands.
func ordinary(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:=@+,%", c) >= 0
}

// single reads a text in single quotes.
func (s *splitter) single() string {
	s.quoted = true
	for s.pos++; s.pos < len(s.line); {
		if s.line[s.pos] == '\'' {
			if s.line[s.pos-1] == '\\' {
				return "it has a backslash before a closing quote, which some shells take for one that does not close"
			}
			s.pos++
			return ""
		}
		if refused := s.letter(true); refused != "" {
			return refused
		}
	}
	return "it has a quote that is never closed"
}

// double reads a text in double quotes.
func (s *splitter) double() string {
	s.quoted = true
	for s.pos++; s.pos < len(s.line); {
		var refused string
		switch s.line[s.pos] {
		case '"':
			s.pos++
			return ""
		case '`':
			return "it has a command in backticks"
		case '$':
			refused = s.dollar(true)
		case '\\':
			refused = s.backslashInDouble()
		default:
			refused = s.letter(true)
		}
		if refused != "" {
			return refused
		}
	}
	return "it has a quote that is never closed"
}

// backslash reads a backslash outside quotes: what follows is text, and a line that ends in one goes on.
func (s *splitter) backslash() string {
	s.pos++
	if s.pos == len(s.line) {
		return "it ends with a backslash"
	}
	if s.line[s.pos] == '\n' {
		s.pos++
		return ""
	}
	s.quoted = true
	if c := s.line[s.pos]; c == ' ' || c == '\t' {
		s.word.WriteByte(c)
		s.pos++
		return ""
	}
	return s.letter(false)
}

func (s *splitter) backslashInDouble() string {
	if s.pos+1 < len(s.line) {
		switch next := s.line[s.pos+1]; next {
		case '\n':
			s.pos += 2
			return ""
		case '"', '\\', '$', '`':
			s.word.WriteByte(next)
			s.pos += 2
			return ""
		}
	}
	s.word.WriteByte('\\')
	s.pos++
	return ""
}

// dollar reads $NAME and ${NAME}, whose values are not known but stay words of this command, and a dollar sign that
// means nothing. Everything else that a dollar sign starts can run a command.
func (s *splitter) dollar(double bool) string {
	rest := s.line[s.pos+1:]
	if strings.HasPrefix(rest, "?") {
		s.word.WriteString("$?")
		s.pos, s.loose = s.pos+2, true
		return ""
	}
	braced := strings.HasPrefix(rest, "{")
	if braced {
		rest = rest[1:]
	}
	n := 0
	for n < len(rest) && (rest[n] == '_' || rest[n] < utf8.RuneSelf && (unicode.IsLetter(rune(rest[n])) || n > 0 && unicode.IsDigit(rune(rest[n])))) {
		n++
	}
	after := rest[n:]
	switch {
	case n == 0 && !braced && (after == "" || strings.IndexByte(" \t\n/.,", after[0]) >= 0 || double && after[0] == '"'):
		s.word.WriteByte('$')
		s.pos++
		return ""
	case n == 0, braced && !strings.HasPrefix(after, "}"), !braced && strings.HasPrefix(after, "["):
		return "it has a substitution, " + quoted(s.line[s.pos:min(len(s.line), s.pos+n+4)])
	}
	end := s.pos + 1 + n
	if braced {
		end += 2
	}
	s.word.WriteString(s.line[s.pos:end])
	s.loose = true
	s.pos = end
	return ""
}

// redirection reads what sends output to another stream or to nowhere. Everything else opens a file.
func (s *splitter) redirection() string {
	if strings.Trim(s.word.String(), "0123456789") != "" || s.quoted {
		s.endWord()
	}
	s.word.Reset() // the number of a stream, as in 2>
	rest := s.line[s.pos:]
	if target, ok := strings.CutPrefix(rest, ">&"); ok {
		n := len(target) - len(strings.TrimLeft(target, "0123456789"))
		if n == 0 && strings.HasPrefix(target, "-") {
			n = 1
		}
		if n > 0 && delimited(target[n:]) {
			s.pos += 2 + n
			return ""
		}
	}
	for _, operator := range []string{">>", ">", "<"} {
		if target, ok := strings.CutPrefix(rest, operator); ok {
			target = strings.TrimLeft(target, " \t")
			if after, ok := strings.CutPrefix(target, "/dev/null"); ok && delimited(after) {
				s.pos = len(s.line) - len(after)
				return ""
			}
			break
		}
	}
	return "it redirects from or to a file"
}

// delimited reports whether a word ends where s begins.
func delimited(s string) bool { return s == "" || strings.IndexByte(" \t\n;&|", s[0]) >= 0 }

func (s *splitter) endWord() {
	if s.word.Len() > 0 || s.quoted {
		s.words = append(s.words, word{text: s.word.String(), loose: s.loose, globs: s.globs})
	}
	s.word.Reset()
	s.quoted, s.loose, s.globs = false, false, false
}

func (s *splitter) endCommand(end int) {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, command{words: s.words, text: strings.TrimSpace(s.line[s.start:end])})
	}
	s.words = nil
}

// commandLine takes the command out of a call: a line that a shell reads, or the words of one that none does.
func (c Call) commandLine(u *use) {
	if u.doubt = c.around(u); u.doubt != "" {
		return
	}
	for field := range strings.FieldsSeq(u.row.fields) {
		v, present := c.Input[field]
		if !present || v == nil {
			continue
		}
		values, ok := texts(v)
		switch _, line := v.(string); {
		case !ok || len(values) == 0 || len(u.values) > 0 || u.argv != nil:
			u.doubt = "its input does not say in one way which command it is"
			return
		case line:
			u.values = values
		case len(values) == 3 && posix(values[0]) && (values[1] == "-c" || values[1] == "-lc"):
			u.values = values[2:]
		default:
			u.argv = values
		}
	}
	if len(u.values) == 0 && u.argv == nil {
		u.doubt = "its input has no command in any of the fields " + strings.Join(strings.Fields(u.row.fields), ", ")
	}
	if c.Windows && c.Tool != "Bash" {
		u.row = rows()["PowerShell"]
	}
}

// around looks at what else a call says of a command: what it runs with, and where. It says why that can't be told, or
// "".
func (c Call) around(u *use) (doubt string) {
	for name, v := range c.Input {
		if empty(v) {
			continue
		}
		switch {
		case oneOf(name, "env environment"):
			return "it sets the environment of the command"
		case oneOf(name, "shell"):
			if s, ok := v.(string); !ok || !posix(s) {
				return "it chooses a shell that skillpm does not know"
			}
		case oneOf(name, moreFields):
			return "it has arguments apart from its command"
		case oneOf(name, placeFields):
			if s, ok := v.(string); !ok || !c.atHome(s) {
				u.elsewhere = "it would run, in " + quoted(fmt.Sprint(v))
			}
		}
	}
	all, named := gatherer{fields: u.row.fields}, 0
	if doubt := all.input(c.Input); doubt != "" {
		return doubt
	}
	for field := range strings.FieldsSeq(u.row.fields) {
		values, _ := texts(c.Input[field])
		named += len(values)
	}
	if len(all.values) != named {
		return "its input does not say in one way which command it is"
	}
	return ""
}

// atHome reports whether a directory is the project's, or the one that the host works in.
func (c Call) atHome(dir string) bool {
	cleaned, raw, refused := c.readPath(dir)
	if refused != "" || cleaned != c.root() && cleaned != path.Clean(c.base()) {
		return false
	}
	for _, at := range c.leads(cleaned, raw) {
		if at == "" || at != c.real(c.root()) && at != c.real(c.base()) {
			return false
		}
	}
	return true
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// posix reports whether a program is a shell whose lines split can read.
func posix(program string) bool {
	switch program {
	case "bash", "sh", "zsh", "dash", "/bin/bash", "/bin/sh", "/bin/zsh", "/bin/dash", "/usr/bin/bash", "/usr/bin/sh", "/usr/bin/zsh", "/usr/bin/dash":
		return true
	}
	return false
}

// commandsOf returns the commands of a use, or why they can't be told. A line is cut once, for however many lists.
func (u *use) commandsOf() ([]command, string) {
	if !u.cut {
		u.cut = true
		u.commands, u.refused = u.readCommands()
	}
	return u.commands, u.refused
}

func (u *use) readCommands() ([]command, string) {
	if u.argv != nil {
		words := make([]word, len(u.argv))
		for i, a := range u.argv {
			if strings.ContainsRune(a, star) {
				return nil, "it has control characters"
			}
			words[i] = word{text: a}
		}
		return []command{{words: words, text: strings.Join(u.argv, " ")}}, ""
	}
	line := u.values[0]
	if u.row.kind == powershell && strings.Trim(line, windowsPlain) != "" {
		return nil, "it has characters that PowerShell or cmd could give a meaning"
	}
	if u.row.kind == powershell {
		return []command{{words: plainWords(line), text: line}}, ""
	}
	commands, refused := split(line)
	if refused == "" && len(commands) == 0 {
		refused = "it has no command"
	}
	return commands, refused
}

// windowsPlain are the characters that mean nothing to PowerShell and nothing to cmd.
const windowsPlain = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 -_./:\=+`

func plainWords(line string) []word {
	var out []word
	for f := range strings.FieldsSeq(line) {
		out = append(out, word{text: f})
	}
	return out
}
