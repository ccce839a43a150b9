package syntax

import (
	"bytes"
	"strings"
)

// placeholder reports whether a template placeholder is at an offset or one byte before it: {{ name }}, {% if %}, <%
// name %>, ${NAME}, $NAME, <name>, {name}, %NAME%, @NAME@, __NAME__. One byte before, because a parser may consume the
// first brace of {{.
func placeholder(text []byte, at int) bool {
	if at > 0 && text[at-1] == '{' && placeholderAt(text, at-1) {
		return true
	}
	return placeholderAt(text, at)
}

func placeholderAt(text []byte, at int) bool {
	rest := text[at:]
	if len(rest) < 2 {
		return false
	}
	switch {
	case bytes.HasPrefix(rest, []byte("{{")):
		return closes(rest[2:], "}}") && (!plainBraces(rest[2:]) || formatted(text))
	case bytes.HasPrefix(rest, []byte("{%")):
		return closes(rest[2:], "%}")
	case bytes.HasPrefix(rest, []byte("{#")):
		return closes(rest[2:], "#}")
	case bytes.HasPrefix(rest, []byte("<%")):
		return closes(rest[2:], "%>")
	case bytes.HasPrefix(rest, []byte("${")), bytes.HasPrefix(rest, []byte("$(")), bytes.HasPrefix(rest, []byte("#{")):
		return true
	case bytes.HasPrefix(rest, []byte("__")):
		return isEnclosed(rest[1:], "__", "")
	}
	switch rest[0] {
	case '$':
		return isWord(rest, 1)
	case '<':
		return isEnclosed(rest, ">", " .-:|/,'")
	case '{':
		return isEnclosed(rest, "}", ".-")
	case '%', '@':
		return isEnclosed(rest, string(rest[:1]), ".-")
	}
	return false
}

// maxPlaceholder is the maximum length of a placeholder, in bytes.
const maxPlaceholder = 4096

func closes(rest []byte, end string) bool {
	return bytes.Contains(rest[:min(len(rest), maxPlaceholder)], []byte(end))
}

// plainBraces reports whether {{ is not followed by a name or directive of a template, so that it is just two braces.
func plainBraces(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n-~{")
	return len(rest) == 0 || rest[0] == '"' || rest[0] == '}'
}

// formatted reports whether a text is a format string: it has {{ for each literal brace, and {name} for replaced
// values.
func formatted(text []byte) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(text[at:], '{')
		if n < 0 {
			return false
		}
		at += n
		if isEnclosed(text[at:], "}", ".-") {
			return true
		}
	}
}

// isEnclosed reports whether text consists of a character, a name of words and other characters, and end.
func isEnclosed(text []byte, end, other string) bool {
	if !isWord(text, 1) {
		return false
	}
	for i := 2; i < len(text) && i < 100; i++ {
		if bytes.HasPrefix(text[i:], []byte(end)) {
			return true
		}
		if !isWord(text, i) && strings.IndexByte(other, text[i]) < 0 {
			return false
		}
	}
	return false
}

// HasDirective reports whether a line has a directive of a template engine: {{ name }}, {% if %}, or <% name %>.
func HasDirective(line []byte) bool {
	for i := range line {
		if directive(line[i:]) {
			return true
		}
	}
	return false
}

// hasTemplate reports whether a line has a placeholder at or before an offset, of the kinds that have no meaning in
// shells: {{ name }}, {% if %}, <% name %>, and <name>, which shells read as two redirections.
func hasTemplate(line []byte, at int) bool {
	for i := range min(at+1, len(line)) {
		switch c := line[i]; {
		case c == '{' && bytes.HasPrefix(line[i+1:], []byte("{")), c == '{' && bytes.HasPrefix(line[i+1:], []byte("%")),
			c == '<':
			if placeholderAt(line, i) {
				return true
			}
		}
	}
	return false
}
