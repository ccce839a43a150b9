package scan

import (
	"bytes"
	"strings"
)

// maxCommand is how many bytes of a command line are read.
const maxCommand = 2048

// A command is a command line from the name of a program to the end of its pipeline. It is parsed roughly as a shell
// does: quotes hide their content, a backslash joins lines.
type command struct {
	start int // of the program's name
	pipe  int // the first pipe, or end
	end   int // of the pipeline: a separator, a closing parenthesis or quote, or the end of the line

	shell      string // what reads the output as a program: "sh", "python", …; "" for nothing
	shellEnd   int
	decodes    bool // base64 is decoded on the way to the shell
	substitute bool // the pipeline stands in $(…), <(…) or backquotes that are run as a program
}

// command parses the command whose program is named at start.
func (t *text) command(start int) command {
	c := command{start: start, pipe: -1}
	limit := min(len(t.data), start+maxCommand)
	opener, cells := t.before(start), t.inCells(start)
	i, depth := start, 0
reading:
	for ; i < limit; i++ {
		switch b := t.data[i]; b {
		case '\n', ';', '#', '&', '`':
			if t.endsPipeline(start, i) {
				break reading
			}
		case '\\':
			if n := t.after(i + 1); n != '|' && n != '\n' && n != '\r' {
				i++
			}
		case '"', '\'':
			if b == opener {
				break reading
			}
			i += t.quoted(i, limit)
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				break reading
			}
		case '|':
			if t.after(i+1) == '|' || cells && t.before(i) != '\\' {
				break reading
			}
			if c.pipe < 0 {
				c.pipe = i
			}
			t.readPipe(&c, i+1)
		}
	}
	t.scanned += i - start
	c.end = i
	if c.pipe < 0 {
		c.pipe = i
	}
	c.substitute = t.inRunSubstitution(start)
	return c
}

// inCells reports whether i is in a row of a table, where unescaped pipes separate cells. A pipe at the start of a line
// alone continues a command.
func (t *text) inCells(i int) bool {
	if !t.Markdown {
		return false
	}
	if i < t.row.upTo || bytes.IndexByte(t.data[t.row.upTo:i], '\n') >= 0 || t.row.upTo == 0 {
		line := bytes.TrimSpace(t.data[t.lineStart(i, 1000):t.lineEnd(i, 1000)])
		t.row.cells = len(line) > 1 && line[0] == '|' && line[len(line)-1] == '|'
	}
	t.row.upTo = i
	return t.row.cells
}

// A tableRow caches whether the line up to an offset is a row of a table.
type tableRow struct {
	upTo  int
	cells bool
}

// endsPipeline reports whether a newline, a semicolon, a number sign, an ampersand or a backquote ends a pipeline.
func (t *text) endsPipeline(start, i int) bool {
	switch t.data[i] {
	case '\n':
		return !t.continues(start, i)
	case '#':
		return is(t.before(i), isBlank)
	case '&':
		return t.after(i+1) == '&'
	}
	return true
}

// quoted returns how far it is from the quotation mark at i to the one that closes it on the same line, or 0.
func (t *text) quoted(i, limit int) int {
	rest := t.data[i+1 : min(limit, i+512)]
	n := bytes.IndexByte(rest, t.data[i])
	if n < 0 || bytes.IndexByte(rest[:n], '\n') >= 0 {
		return 0
	}
	return n + 1
}

// continues reports whether the line that ends at i goes on in the next: after a backslash or a pipe, or before a pipe.
func (t *text) continues(start, i int) bool {
	k := i
	for k > start && (t.data[k-1] == ' ' || t.data[k-1] == '\r' || t.data[k-1] == '\t') {
		k--
	}
	if k > start && (t.data[k-1] == '\\' || t.data[k-1] == '|') {
		return true
	}
	next := t.skipSpace(i + 1)
	return t.after(next) == '|' && t.after(next+1) == ' ' && t.Script
}

// readPipe checks whether the program after a pipe runs its input.
func (t *text) readPipe(c *command, i int) {
	word, end := t.programAt(i)
	switch {
	case oneOf(word, "base64", "base64.exe", "openssl", "xxd"):
		c.decodes = c.decodes || t.hasDecode(end)
	case c.shell == "" && t.readsProgram(word, end):
		c.shell, c.shellEnd = string(toLowerASCII(word)), end
	}
}

// programAt returns the name of the program of the command at i, without its directory, and skips sudo, env and
// assignments of variables.
func (t *text) programAt(i int) (word []byte, end int) {
	for range 8 {
		i = t.skipBreaks(i)
		start := i
		for i < len(t.data) && i-start < 100 && !is(t.data[i], isBlank) &&
			strings.IndexByte("|;&()`\"'<>", t.data[i]) < 0 {
			i++
		}
		end = i
		word = t.data[start:end]
		if k := bytes.LastIndexAny(word, `/\`); k >= 0 && bytes.IndexByte(word, '=') < 0 {
			word = word[k+1:]
		}
		skipped := oneOf(word, "sudo", "env", "nohup", "exec", "command", "time", "doas", "&") ||
			len(word) > 1 && word[0] == '-' || bytes.IndexByte(word, '=') > 0
		if !skipped {
			return word, end
		}
	}
	return nil, i
}

// skipBreaks skips blanks and, after a backslash or a pipe, the end of a line.
func (t *text) skipBreaks(i int) int {
	for k := 0; i < len(t.data) && k < 200; k++ {
		switch c := t.data[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
		case c == '\\' && (t.after(i+1) == '\n' || t.after(i+1) == '\r'):
			i++
		default:
			return i
		}
	}
	return i
}

// readsProgram reports whether a command runs its input: it is a shell or interpreter without another program in its
// arguments.
func (t *text) readsProgram(word []byte, end int) bool {
	shell := isShell(word)
	if !shell && !isInterpreter(word) && !oneOf(word, "iex", "invoke-expression", "source", "eval") {
		return false
	}
	i := t.skipSpace(end)
	rest := t.data[i:t.lineEnd(i, 200)]
	switch {
	case bytes.HasPrefix(rest, []byte("<<")):
		return false
	case len(rest) == 0, bytes.IndexByte([]byte("|;&)`\"'<>#\\\r,.*]}"), rest[0]) >= 0:
		return true
	case oneOf(word, "iex", "invoke-expression"):
		return true
	case t.Markdown && endsCommand(rest):
		return true
	case bytes.Contains(rest, []byte("<<")):
		return false // the program is the here-document, and the download is its input
	case rest[0] != '-':
		return hasFold(rest, "/dev/stdin")
	case !shell:
		return len(rest) == 1 || !is(rest[1], isWordy) && rest[1] != '-' // "python -"
	}
	first, _ := cutWord(rest)
	return !bytes.HasSuffix(first, []byte("c")) && !bytes.Contains(rest, []byte(" -c "))
}

// endsCommand reports whether a sentence continues after a command.
func endsCommand(rest []byte) bool {
	word, _ := cutWord(rest)
	return oneOf(word, "and", "then", "before", "to", "first", "or")
}

func isShell(word []byte) bool {
	return oneOf(word, "sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "pwsh", "powershell", "powershell.exe", "cmd",
		"cmd.exe")
}

func isInterpreter(word []byte) bool {
	return oneOf(word, "python", "python3", "python2", "perl", "ruby", "node", "php", "deno", "bun", "osascript")
}

// inRunSubstitution reports whether the command before i runs the output of the command at i: sh -c "$(…)", bash
// <(…), eval `…`, source <(…).
func (t *text) inRunSubstitution(i int) bool {
	head := bytes.TrimRight(t.data[t.lineStart(i, 64):i], " \t")
	for _, prefix := range []string{"sudo", "command"} {
		head = bytes.TrimRight(bytes.TrimSuffix(head, []byte(prefix)), " \t")
	}
	return runsSubstitution(head)
}

// runsSubstitution reports whether head ends with a substitution whose output is run as a program.
func runsSubstitution(head []byte) bool {
	file, quoted := bytes.HasSuffix(head, []byte("<(")), bytes.HasSuffix(head, []byte("`"))
	switch {
	case file, bytes.HasSuffix(head, []byte("$(")):
		head = head[:len(head)-2]
	case quoted:
		head = head[:len(head)-1]
	default:
		return false
	}
	head = bytes.TrimRight(head, " \t\"'\\<")
	flag := false
	if k := bytes.LastIndexByte(head, ' '); k >= 0 && bytes.HasSuffix(head, []byte("c")) && k+1 < len(head) &&
		head[k+1] == '-' {
		flag = true
		head = bytes.TrimRight(head[:k], " ")
	}
	k := len(head)
	for k > 0 && !is(head[k-1], isBlank) && bytes.IndexByte([]byte("\"'`(;&|$"), head[k-1]) < 0 {
		k--
	}
	word := head[k:]
	if n := bytes.LastIndexByte(word, '/'); n >= 0 {
		word = word[n+1:]
	}
	if oneOf(word, "eval") || file && oneOf(word, "source", ".") {
		return true
	}
	return (isShell(word) || isInterpreter(word)) && (flag || file)
}
