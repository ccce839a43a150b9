package skill

import (
	"strings"
	"unicode"
)

// ShellCommand is a command in a text, whose output replaces it.
type ShellCommand struct {
	Line       string // the command as written
	Start, End int    // the bytes of the text that the output replaces
	Block      bool   // a ```! block instead of !`…`

	// Refused is why it did not run; "" if there was no Shell function or it returned false.
	Refused string
}

// ShellCommands returns the commands of a text, in order: !`command` at the start of a line or after a space, and
// blocks that start with ```!. It must be called with the original text, so that inserted text never runs.
func ShellCommands(text string) []ShellCommand {
	var out []ShellCommand
	for pos := 0; pos < len(text); {
		next := strings.IndexByte(text[pos:], '!')
		if next < 0 {
			break
		}
		at := pos + next
		c, ok, none := commandAt(text, at, pos)
		switch {
		case none: // it is not closed, so neither are later ones
			return out
		case ok:
			out = append(out, c)
			pos = c.End
		default:
			pos = at + 1
		}
	}
	return out
}

// commandAt parses the command at an exclamation mark; from is the end of the previous one. none reports that no
// backtick follows.
func commandAt(text string, at, from int) (c ShellCommand, ok, none bool) {
	if at-3 >= from && text[at-3:at] == "```" {
		start := at + 1
		length := strings.Index(text[start:], "```")
		if length < 0 {
			return ShellCommand{}, false, strings.IndexByte(text[start:], '`') < 0
		}
		line := strings.TrimSpace(text[start : start+length])
		return ShellCommand{Line: line, Start: at - 3, End: start + length + 3, Block: true}, line != "", false
	}
	if !strings.HasPrefix(text[at:], "!`") || at > 0 && !spaceBefore(text, at) {
		return ShellCommand{}, false, false
	}
	start := at + 2
	length := strings.IndexByte(text[start:], '`')
	if length < 0 {
		return ShellCommand{}, false, true
	}
	line := text[start : start+length]
	return ShellCommand{Line: line, Start: at, End: start + length + 1}, strings.TrimSpace(line) != "", false
}

func spaceBefore(text string, at int) bool {
	switch text[at-1] {
	case ' ', '\t', '\n', '\r', '\v', '\f':
		return true
	}
	return strings.HasSuffix(text[max(0, at-2):at], "\u00a0")
}

// command writes the output of a command, or the command unchanged.
func (x *expander) command(c ShellCommand) {
	text := x.text[c.Start:c.End]
	x.pos = c.End
	line, used, refused := x.commandLine(c.Line)
	if refused == "" && x.in.Shell != nil {
		if output, ran := x.in.Shell(line); ran {
			if x.inserted+len(output) <= MaxInserted {
				x.inserted += len(output)
				x.used = x.used || used
				x.out.WriteString(output)
				return
			}
			x.result.Cut = true
			refused = "its output is too long"
		}
	}
	c.Refused = refused
	x.result.Left = append(x.result.Left, c)
	x.out.WriteString(text)
}

// commandLine returns a command with its placeholders substituted, or why that is not possible. The meaning of a value
// depends on the quotes around it, and no quoting is safe in all contexts. So only harmless values are inserted: words
// of letters, digits, and _ . / : @ + , - that are not options. used reports that a placeholder used arguments.
func (x *expander) commandLine(line string) (expanded string, used bool, refused string) {
	var out strings.Builder
	for pos := 0; ; {
		next := strings.IndexByte(line[pos:], '$')
		if next < 0 {
			out.WriteString(line[pos:])
			return out.String(), used, ""
		}
		at := pos + next
		v, length, ok := x.placeholder(line[at:])
		switch {
		case !ok || v.literal:
			length = max(length, 1)
			out.WriteString(line[pos : at+length])
		case at > pos && line[at-1] == '\\':
			return "", false, "a placeholder in it is escaped"
		case !harmless(v.text):
			return "", false, "an argument in it has characters that the shell interprets"
		case out.Len()+len(v.text) > maxLine:
			return "", false, "it is too long"
		default:
			out.WriteString(line[pos:at])
			out.WriteString(v.text)
			used = used || v.argument
		}
		pos = at + length
	}
}

// maxLine is the maximum length of a command with its arguments.
const maxLine = 64 << 10

// harmless reports whether a value has the same meaning anywhere in a command: words without shell syntax that are not
// options.
func harmless(v string) bool {
	if strings.HasPrefix(v, "-") || strings.Contains(v, " -") {
		return false
	}
	for _, r := range v {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" _./:@+,-", r) {
			return false
		}
	}
	return true
}
