package scan

import "bytes"

// mostCommand is how many bytes of a command line are read.
const mostCommand = 2048

// A command is what stands on a command line from the name of a program on, as far as the end of its pipeline. It is read
// as a shell would, roughly: quotes hide what is inside them, a backslash joins lines.
type command struct {
	start int // of the program's name
	pipe  int // the first pipe, or end
	end   int // of the pipeline: a separator, a closing parenthesis or quote, or the end of the line

	shell      string // what reads the output as a program: "sh", "python", …; "" for nothing
	shellEnd   int
	decodes    bool // base64 is decoded on the way to the shell
	substitute bool // the pipeline stands in $(…), <(…) or backquotes that are run as a program
}

// command reads the command whose program is named at start.
func (t *text) command(start int) command {
	c := command{start: start, pipe: -1}
	limit := min(len(t.data), start+mostCommand)
	i, depth, unpaired := start, 0, [256]bool{}
	opener := t.before(start)
	defer func() { t.work += i - start }()
	for ; i < limit; i++ {
		switch b := t.data[i]; b {
		case '\n':
			if !t.continues(start, i) {
				c.close(i)
				return t.substituted(c)
			}
		case '\\':
			if t.after(i+1) == '|' {
				continue // a pipe, escaped for a table
			}
			if n := t.after(i + 1); n != '\n' && n != '\r' {
				i++
			}
		case '"', '\'', '`':
			if b == '`' || b == opener || unpaired[b] {
				c.close(i)
				return t.substituted(c)
			}
			n := bytes.IndexByte(t.data[i+1:min(limit, i+512)], b)
			if n < 0 || bytes.IndexByte(t.data[i+1:i+1+n], '\n') >= 0 {
				unpaired[b] = true
				continue
			}
			i += n + 1
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				c.close(i)
				return t.substituted(c)
			}
		case ';':
			c.close(i)
			return t.substituted(c)
		case '#':
			if is(t.before(i), isBlank) {
				c.close(i)
				return t.substituted(c)
			}
		case '&':
			if t.after(i+1) == '&' {
				c.close(i)
				return t.substituted(c)
			}
		case '|':
			if t.after(i+1) == '|' {
				c.close(i)
				return t.substituted(c)
			}
			if c.pipe < 0 {
				c.pipe = i
			}
			t.piped(&c, i+1)
		}
	}
	c.close(i)
	return t.substituted(c)
}

func (c *command) close(end int) {
	c.end = end
	if c.pipe < 0 {
		c.pipe = end
	}
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

// piped looks at the program after a pipe: is it one that runs what it reads?
func (t *text) piped(c *command, i int) {
	word, end := t.programAt(i)
	switch {
	case oneOf(word, "base64", "openssl", "xxd") || oneOf(word, "base64.exe"):
		c.decodes = c.decodes || t.hasDecode(end)
	case c.shell == "" && t.readsProgram(word, end):
		c.shell, c.shellEnd = string(bytes.ToLower(word)), end
	}
}

// programAt returns the name of the program of the command at i, without its directory, after sudo, env and settings of
// variables.
func (t *text) programAt(i int) (word []byte, end int) {
	for range 8 {
		i = t.skipBreaks(i)
		start := i
		for i < len(t.data) && i-start < 100 && !is(t.data[i], isBlank) && !bytes.ContainsRune([]byte("|;&()`\"'<>"), rune(t.data[i])) {
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

// readsProgram reports whether a command runs its input: a shell or interpreter whose arguments name no other program.
func (t *text) readsProgram(word []byte, end int) bool {
	shell := isShell(word)
	if !shell && !isInterpreter(word) && !oneOf(word, "iex", "invoke-expression", "source", "eval") {
		return false
	}
	i := t.skipSpace(end)
	rest := t.data[i:t.lineEnd(i, 200)]
	switch {
	case len(rest) == 0, bytes.IndexByte([]byte("|;&)`\"'<>#\\\r,.*]}"), rest[0]) >= 0:
		return true
	case oneOf(word, "iex", "invoke-expression"):
		return true
	case rest[0] != '-':
		return hasFold(rest, "/dev/stdin")
	case !shell:
		return len(rest) == 1 || !is(rest[1], isWordy) && rest[1] != '-' // "python -"
	}
	first, _ := cutWord(rest)
	return !bytes.HasSuffix(first, []byte("c")) && !bytes.Contains(rest, []byte(" -c "))
}

func isShell(word []byte) bool {
	return oneOf(word, "sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "pwsh", "powershell", "powershell.exe", "cmd", "cmd.exe")
}

func isInterpreter(word []byte) bool {
	return oneOf(word, "python", "python3", "python2", "perl", "ruby", "node", "php", "deno", "bun", "osascript")
}

// substituted says whether the output of the pipeline is run by what stands before it: sh -c "$(…)", bash <(…),
// eval `…`, source <(…).
func (t *text) substituted(c command) command {
	i := c.start
	from := t.lineStart(i, 64)
	head := bytes.TrimRight(t.data[from:i], " \t")
	for _, prefix := range []string{"sudo", "command"} {
		head = bytes.TrimRight(bytes.TrimSuffix(head, []byte(prefix)), " \t")
	}
	c.substitute = runsSubstitution(head)
	return c
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
	if k := bytes.LastIndexByte(head, ' '); k >= 0 && bytes.HasSuffix(head, []byte("c")) && k+1 < len(head) && head[k+1] == '-' {
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
