package tool

import (
	"fmt"
	"path"
	"strings"
)

// commandLine reads the command of a call: a shell line, or words that run without a shell.
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
			u.doubt = "its input is ambiguous about the command"
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
		u.doubt = "its input does not contain a command in any of the fields " +
			strings.Join(strings.Fields(u.row.fields), ", ")
	}
	if c.Windows && c.Tool != "Bash" {
		u.row = rows()["PowerShell"]
	}
}

// around checks the other fields of a command call: environment and working directory. It returns why they are unknown,
// or "".
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
				return "it selects an unknown shell"
			}
		case oneOf(name, moreFields):
			return "it contains arguments apart from its command"
		case oneOf(name, placeFields):
			if s, ok := v.(string); !ok || !c.inHome(s) {
				u.elsewhere = "the directory " + quoted(fmt.Sprint(v))
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
		return "its input is ambiguous about the command"
	}
	return ""
}

// inHome reports whether a directory is the project's or the agent's working directory.
func (c Call) inHome(dir string) bool {
	locations, refused := c.locations(dir)
	if refused != "" {
		return false
	}
	for _, l := range locations {
		if l.cleaned != c.root() && l.cleaned != path.Clean(c.base()) {
			return false
		}
		for _, path := range c.resolvedPaths(l) {
			if path == "" || path != c.real(c.root()) && path != c.real(c.base()) {
				return false
			}
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

// posix reports whether split can parse a shell's lines.
func posix(program string) bool {
	switch program {
	case "bash", "sh", "zsh", "dash", "/bin/bash", "/bin/sh", "/bin/zsh", "/bin/dash", "/usr/bin/bash", "/usr/bin/sh",
		"/usr/bin/zsh", "/usr/bin/dash":
		return true
	}
	return false
}

// commandsOf returns the commands of a use, or why they are unknown. It splits a line once for all lists.
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
			if strings.ContainsAny(a, string(star)+literalTilde[:1]) {
				return nil, "it contains control characters"
			}
			if words[i] = (word{text: a}); strings.HasPrefix(a, "~") {
				words[i].text = literalTilde + a[1:]
			}
		}
		return []command{{words: words, text: strings.Join(u.argv, " ")}}, ""
	}
	line := u.values[0]
	if u.row.kind == powershell && strings.Trim(line, windowsSafe) != "" {
		return nil, "it contains characters that PowerShell or cmd could interpret"
	}
	if u.row.kind == powershell {
		return []command{{words: splitSafeWords(line), text: line}}, ""
	}
	commands, refused := split(line)
	if refused == "" && len(commands) == 0 {
		refused = "it does not contain a command"
	}
	return commands, refused
}

// windowsSafe are the characters without a meaning for PowerShell and cmd.
const windowsSafe = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 -_./:\=+`

func splitSafeWords(line string) []word {
	var out []word
	for f := range strings.FieldsSeq(line) {
		out = append(out, word{text: f})
	}
	return out
}
