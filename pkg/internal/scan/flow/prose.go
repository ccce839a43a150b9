package flow

import (
	"bytes"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
)

// maxProse is how many bytes of a line of prose may be searched for a command.
const maxProse = 2000

// isProgram reports whether a word is a program whose command lines in prose matter, because they send, run, write, or
// delete something.
func isProgram(word []byte) bool {
	switch string(word) {
	case "curl", "wget", "cat", "tar", "zip", "env", "printenv", "base64", "openssl", "nc", "ncat", "netcat", "socat",
		"ssh", "scp", "rsync", "bash", "sh", "zsh", "rm", "chmod", "crontab", "python", "python3", "node", "perl", "ruby",
		"php", "git", "powershell", "pwsh", "iwr", "irm", "iex", "dd", "find", "echo", "dig", "nslookup", "sftp":
		return true
	}
	return false
}

// runWords are the words before a command in a sentence.
var runWords = map[string]bool{
	"run": true, "execute": true, "running": true, "executing": true, "with": true, "using": true, "command": true,
	"via": true, "type": true, "enter": true, "sudo": true, "$": true, "following": true, "invoke": true, "use": true,
}

// sentenceWords are words that end a command in a sentence, because command lines do not contain them.
var sentenceWords = map[string]bool{
	"a": true, "an": true, "the": true, "to": true, "is": true, "are": true, "and": true, "or": true, "of": true,
	"that": true, "this": true, "it": true, "if": true, "which": true, "so": true, "but": true, "before": true,
	"after": true, "when": true, "then": true, "will": true, "can": true, "from": true, "because": true, "your": true,
}

// CommandIn returns where a line of prose has a shell command without marks of code: at its start, after the marks of
// lists, quotations, and prompts, or after a word such as "run". The program must be one that matters, and an argument
// must look like one: an option, a path, an address, a variable, or a pipe.
func CommandIn(line []byte) (start, end int, ok bool) {
	if len(line) > maxProse {
		return 0, 0, false
	}
	first := true
	var before []byte
	for at := 0; ; {
		word, from, next := nextToken(line, at)
		if next < 0 {
			return 0, 0, false
		}
		if isProgram(word) && (first || runWords[string(bytes.ToLower(bytes.TrimRight(before, ":")))]) {
			if end, ok := commandEnd(line, next); ok {
				return from, end, true
			}
		}
		first = first && isMarker(word)
		before, at = word, next
	}
}

// nextToken returns the word at or after i, where it begins, and where it ends; -1 at the end of the line.
func nextToken(line []byte, i int) (word []byte, from, next int) {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	if i == len(line) {
		return nil, 0, -1
	}
	from = i
	for i < len(line) && line[i] != ' ' && line[i] != '\t' {
		i++
	}
	return line[from:i], from, i
}

// isMarker reports whether a word is a mark of a list, a quotation, or a prompt.
func isMarker(word []byte) bool {
	switch string(word) {
	case "-", "*", "+", ">", "$", "%", "sudo":
		return true
	}
	number := bytes.TrimRight(word, ".)")
	return len(number) < len(word) && len(bytes.Trim(number, "0123456789")) == 0
}

// commandEnd returns where the command ends whose program is before i, or false if what follows is a sentence.
func commandEnd(line []byte, i int) (end int, ok bool) {
	plain := 0
	var quote byte
	for end = i; ; {
		word, _, next := nextToken(line, end)
		if next < 0 {
			return len(bytes.TrimRight(line[:end], ".,;: \t")), ok
		}
		quoted := quote != 0
		for _, c := range word {
			switch {
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			case c == quote:
				quote = 0
			}
		}
		switch {
		case quoted || quote != 0:
		case sentenceWords[string(word)]:
			return len(bytes.TrimRight(line[:end], ".,;: \t")), ok
		case isArgument(word):
			ok = true
			plain = 0
		default:
			if plain++; plain > 3 && !ok {
				return 0, false
			}
		}
		end = next
	}
}

// isArgument reports whether a word of a command line is not one of a sentence.
func isArgument(word []byte) bool {
	switch string(word) {
	case "|", ">", ">>", "<", "&&", "||":
		return true
	}
	if len(word) < 2 {
		return false
	}
	switch word[0] {
	case '-':
		return word[1] == '-' || word[1]|0x20 >= 'a' && word[1]|0x20 <= 'z'
	case '$', '@', '~', '/':
		return true
	}
	return bytes.Contains(word, []byte("://")) || bytes.HasPrefix(word, []byte("./"))
}

// commands evaluates the commands in the prose of a page.
func (r *reader) commands(p *markdown.Page) {
	r.part, r.fixed, r.inline = nil, true, true
	n := 0
	for at, line := range p.Prose() {
		start, end, ok := CommandIn(line)
		if !ok || p.InCode(at+start) {
			continue
		}
		text := string(line[start:end])
		if n++; n > maxSpans || !interesting(text) {
			continue
		}
		r.at, r.spanEnd = at+start, at+end
		newShell(r).script(text, value{})
	}
}
