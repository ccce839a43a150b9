package scan

import (
	"bytes"
	"encoding/base64"
)

// hasDecode reports whether the arguments of base64, openssl or xxd at i ask for decoding.
func (t *text) hasDecode(i int) bool {
	rest := t.data[i:t.lineEnd(i, 200)]
	if k := bytes.IndexAny(rest, "|;)`"); k >= 0 {
		rest = rest[:k]
	}
	for len(rest) > 0 {
		var w []byte
		w, rest = cutWord(rest)
		switch {
		case len(w) < 2 || w[0] != '-':
		case isFold(w, "--decode"), isFold(w, "-decode"), len(w) <= 3 && w[1] != '-' && bytes.ContainsAny(w, "dDr"):
			return true
		}
	}
	return false
}

// cutWord returns the first word of b, up to a blank, and the rest.
func cutWord(b []byte) (word, rest []byte) {
	i := 0
	for i < len(b) && is(b[i], isBlank) {
		i++
	}
	start := i
	for i < len(b) && !is(b[i], isBlank) {
		i++
	}
	return b[start:i], b[i:]
}

// decoderToShell finds "base64 -d" and its like whose output is run.
func (t *text) decoderToShell(start, end int) {
	if start < t.checkedTo[checkBase64] || is(t.after(end), isWordy) && t.data[start] != 'x' {
		return
	}
	from, options := start, end
	if t.data[start] == 'x' {
		options = start + len("xxd") // the option is a part of the literal
	}
	head := t.data[t.lineStart(start, 40):start]
	if k := bytes.LastIndex(head, []byte("openssl ")); k >= 0 && !bytes.ContainsAny(head[k:], "|;)`") {
		from -= len(head) - k
		options = from + len("openssl")
	}
	if is(t.before(from), isWordy) || !t.hasDecode(options) {
		return
	}
	c := t.command(from)
	t.checkedTo[checkBase64] = c.end
	// The decoder may stand behind a pipe in a substitution: what matters is what stands before the whole pipeline.
	run := c.shell != "" || c.substitute || t.inRunPipeline(from)
	if !run || !t.hasInput(from, c) {
		return
	}
	detail := "decoded into a shell"
	if c.shell != "" {
		detail = "decoded into " + c.shell
	}
	t.hit(Base64Shell, from, max(end, min(c.end, max(c.shellEnd, c.pipe))), detail)
}

// hasInput reports whether a decoder has something to decode: a command before its pipe, or a file or text among its
// arguments. A decoder that is only mentioned has none.
func (t *text) hasInput(from int, c command) bool {
	i := from
	for i > 0 && from-i < 100 && (is(t.data[i-1], isBlank) || t.data[i-1] == '\\') {
		i--
	}
	if t.before(i) == '|' {
		return t.providesInput(i - 1)
	}
	words := bytes.Fields(t.data[from:c.pipe])
	for k, w := range words[min(1, len(words)):] {
		switch {
		case w[0] == '-' || oneOf(w, "base64", "enc", "\\") || containsAny(w, "...", "…"):
		case string(w) == "<<<":
			return k+2 < len(words) && isRealInput(words[k+2])
		case w[0] == '<' && w[len(w)-1] == '>': // "<file>" stands for one
		default:
			return true
		}
	}
	return false
}

// providesInput reports whether the command before the pipe at i writes something to decode. An echoed text must be
// base64 of a command, or a variable: "echo payload" is an example.
func (t *text) providesInput(i int) bool {
	from := t.farStart(i)
	if len(bytes.TrimSpace(t.data[from:i])) == 0 && from > 0 {
		from = t.farStart(from - 1) // the pipe starts a line
	}
	words := bytes.Fields(t.data[from:i])
	for len(words) > 0 && string(words[len(words)-1]) == "\\" {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return false
	}
	last := bytes.Trim(words[len(words)-1], "\"'`{}()<>*")
	if len(words) > 1 && oneOf(bytes.Trim(words[len(words)-2], "\"'`$(&;"), "echo", "printf", "-n", "-e", "-ne", "%s") {
		return isRealInput(last)
	}
	return len(last) > 0 && (len(words) > 1 || bytes.IndexByte(last, '=') >= 0)
}

// isRealInput reports whether a decoder's argument is a variable, or base64 of a command.
func isRealInput(word []byte) bool {
	word = bytes.Trim(word, "\"'`{}()<>*")
	return bytes.IndexByte(word, '$') >= 0 || encodesCommand(word)
}

// encodesCommand reports whether a word is base64 of several words, or of binary data.
func encodesCommand(word []byte) bool {
	decoded, err := base64.RawStdEncoding.AppendDecode(nil, bytes.TrimRight(word, "="))
	if err != nil || len(word) < 12 {
		return false
	}
	return bytes.ContainsAny(decoded, " /\n;") || len(word) >= minEncoded && !printable(decoded)
}

// inRunPipeline reports whether the pipeline at start is in a substitution that is run.
func (t *text) inRunPipeline(start int) bool {
	from := t.farStart(start)
	head := t.data[from:start]
	depth := 0
	for i := len(head) - 1; i > 0; i-- {
		switch head[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth < 0 {
				return runsSubstitution(head[:i+1])
			}
		case '`':
			return runsSubstitution(head[:i+1])
		}
	}
	return false
}

// decodeCall finds code that runs what it decodes: exec(base64.b64decode(…)), eval(atob(…)). In prose that shows
// code, it counts only if the encoded text is a literal and decodes to a program.
func (t *text) decodeCall(start, end int) {
	if start < t.checkedTo[checkDecodeCall] || is(t.before(start), isWordy) {
		return
	}
	head := t.data[t.lineStart(start, 160):start]
	caller := enclosingCall(head)
	if caller == "" {
		return
	}
	tail := t.data[end:t.lineEnd(end, 4096)]
	t.checkedTo[checkDecodeCall] = end + min(len(tail), 64)
	if isFold(t.data[start:end], "buffer.from(") && !containsAny(tail[:min(len(tail), 2048)], `"base64"`, `'base64'`) {
		return
	}
	if !t.Script && !commandLine(head) && !isProgramLiteral(tail) {
		return
	}
	t.hit(Base64Shell, start-len(head)+bytes.LastIndex(head, []byte(caller)), end-1, "decoded into "+caller)
}

// enclosingCall returns the name of the function that runs code and whose arguments contain the end of head, or "".
func enclosingCall(head []byte) string {
	depth := 0
	for i := len(head) - 1; i > 0; i-- {
		switch head[i] {
		case ')':
			depth++
		case ';':
			return ""
		case '(':
			if depth--; depth >= 0 {
				continue
			}
			depth = 0
			k := i
			for k > 0 && (is(head[k-1], isWordy) || head[k-1] == '.') {
				k--
			}
			switch name := string(head[k:i]); name {
			case "exec", "eval", "Function", "os.system", "os.popen", "subprocess.run", "subprocess.call",
				"subprocess.Popen",
				"subprocess.check_output", "subprocess.getoutput", "execSync", "child_process.exec",
				"child_process.execSync",
				"system", "shell_exec", "passthru", "vm.runInThisContext", "assert", "builtins.exec",
				"__builtins__.exec":
				return name
			}
		}
	}
	return ""
}

// commandLine reports whether code stands on a command line: after python -c, node -e and their like.
func commandLine(head []byte) bool {
	for _, s := range []string{" -c ", " -e ", " -r ", " -Command "} {
		if program, _, ok := bytes.Cut(head, []byte(s)); ok {
			words := bytes.Fields(program)
			if len(words) > 0 && (isInterpreter(words[len(words)-1]) || isShell(words[len(words)-1])) {
				return true
			}
		}
	}
	return false
}

// isProgramLiteral reports whether tail starts with quoted base64 of 24 or more characters that decodes to a text with
// real addresses.
func isProgramLiteral(tail []byte) bool {
	tail = bytes.TrimLeft(tail, " bBrR")
	if len(tail) < 24 || tail[0] != '"' && tail[0] != '\'' {
		return false
	}
	k := bytes.IndexByte(tail[1:], tail[0])
	if k < 24 {
		return false
	}
	raw := bytes.TrimRight(tail[1:1+k], "=")
	text, err := base64.RawStdEncoding.AppendDecode(nil, raw)
	return err == nil && printable(text) && !onlyPlaceholderHosts(text)
}

// powerShell finds "powershell -EncodedCommand" with the command itself.
func (t *text) powerShell(start, end int) {
	if start < t.checkedTo[checkPowerShell] || is(t.before(start), isWordy) || is(t.after(end), isWordy) {
		return
	}
	stop := t.lineEnd(end, maxCommand)
	t.checkedTo[checkPowerShell] = stop
	words := t.data[end:stop]
	for i := 0; i < len(words); {
		k := bytes.IndexByte(words[i:], '-')
		if k < 0 {
			return
		}
		i += k + 1
		n := i
		for n < len(words) && is(words[n], isLetter) {
			n++
		}
		flag := words[i:n]
		i = n
		if len(flag) == 0 || !oneOf(flag, "ec") && !hasFold([]byte("encodedcommand"), string(toLowerASCII(flag))) {
			continue
		}
		value := bytes.TrimLeft(words[n:], " \t:\"'")
		length := 0
		for length < len(value) && is(value[length], isBase64) {
			length++
		}
		if rest := value[length:]; bytes.HasPrefix(rest, []byte("...")) || bytes.HasPrefix(rest, []byte("…")) {
			continue // it is cut
		}
		if length >= 16 && entropy(value[:length]) > 200 {
			t.hit(Base64Shell, start, stop-len(value)+min(length, maxExcerpt), "an encoded PowerShell command")
			return
		}
	}
}

// fromBase64 finds .NET's decoder next to code that runs its result.
func (t *text) fromBase64(start, end int) {
	call := bytes.TrimLeft(t.data[end:min(len(t.data), end+8)], "\"' ")
	if start < t.checkedTo[checkFromBase64] || len(call) == 0 || call[0] != '(' && call[0] != '.' {
		return // the name alone is a pattern or a word
	}
	const reach = 300
	t.checkedTo[checkFromBase64] = end + reach/2
	near := t.around(start, reach/2, reach)
	if callsIEX(near) || containsAny(near, "invoke-expression", "scriptblock]::create", "assembly]::load",
		"start-process") {
		t.hit(Base64Shell, start, end, "decoded into PowerShell")
	}
}

// callsIEX reports whether a text in lower case has iex as a command: with an argument, or after a pipe.
func callsIEX(text []byte) bool {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte("iex"))
		if i < 0 {
			return false
		}
		before, after := text[:at+i], text[at+i+3:]
		at += i + 3
		if len(before) > 0 && is(before[len(before)-1], isWordy) || len(after) > 0 && is(after[0], isWordy) {
			continue
		}
		argument := bytes.TrimLeft(after, " \t")
		if bytes.HasSuffix(bytes.TrimRight(before, " \t"), []byte("|")) ||
			len(argument) > 0 && bytes.IndexByte([]byte("($\"'&{["), argument[0]) >= 0 {
			return true
		}
	}
}
