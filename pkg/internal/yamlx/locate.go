package yamlx

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The functions of this file locate the cause of a syntax error. Each returns a line, from 1, and the offset of a byte
// in it, or line 0 if it finds nothing. They are heuristics: only messages depend on them.

// errNoColon is the parser's error for a line without a colon.
var errNoColon = errors.New("yaml: could not find expected ':'")

func indentOf(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// isContent reports whether a line has more than space and a comment.
func isContent(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && text[0] != '#'
}

func findText(lines []string, text string) (line, offset int) {
	for n, s := range lines {
		if i := strings.Index(s, text); i >= 0 && isContent(s) {
			return n + 1, i
		}
	}
	return 0, 0
}

// badByte finds a byte that is not UTF-8, or a control character that YAML refuses.
func badByte(lines []string) (line, offset int) {
	for n, text := range lines {
		for i, c := range text {
			bad := c == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd")
			if bad || unicode.IsControl(c) && c != '\t' && c != '\r' && c != '\u0085' {
				return n + 1, i
			}
		}
	}
	return 0, 0
}

// leadingTab finds a tab among a line's leading space.
func leadingTab(lines []string) (line, offset int) {
	for n, text := range lines {
		if i := strings.IndexByte(text[:indentOf(text)], '\t'); i >= 0 && isContent(text) {
			return n + 1, i
		}
	}
	return 0, 0
}

// secondColon finds the colon that an unquoted value must not contain, on the given line or the one before it.
func secondColon(lines []string, line int) (n, offset int) {
	for n := line; n >= max(1, line-1); n-- {
		text := lines[n-1]
		first := strings.Index(text, ": ")
		if first < 0 || !isContent(text) {
			continue
		}
		rest := strings.TrimRight(text[first+2:], " \t\r")
		if i := strings.Index(rest, ": "); i >= 0 {
			return n, first + 2 + i
		}
		if strings.HasSuffix(rest, ":") {
			return n, first + 1 + len(rest)
		}
	}
	return 0, 0
}

// noColon finds the last line that has text and no key.
func noColon(lines []string) (line int) {
	for n := len(lines); n > 0; n-- {
		text := strings.TrimSpace(lines[n-1])
		if isContent(text) && !strings.HasPrefix(text, "-") && !strings.Contains(text, ": ") &&
			!strings.HasSuffix(text, ":") {
			return n
		}
	}
	return 0
}

// badStart finds a value that starts with a reserved character, on the given line or the one before it, or else
// anywhere.
func badStart(lines []string, line int) (n, offset int) {
	order := []int{line, line - 1}
	for n := range lines {
		order = append(order, n+1)
	}
	for _, n := range order {
		if n < 1 || !isContent(lines[n-1]) {
			continue
		}
		text := lines[n-1]
		value := text
		if _, after, ok := strings.Cut(text, ": "); ok {
			value = after
		}
		value = strings.TrimLeft(value, " \t-")
		if value != "" && strings.ContainsRune("@`%*&", rune(value[0])) {
			return n, len(text) - len(value)
		}
	}
	return 0, 0
}

// bullet finds an entry of a list in Markdown.
func bullet(lines []string) (n, offset int) {
	for n, text := range lines {
		if indent := indentOf(text); strings.HasPrefix(text[indent:], "* ") {
			return n + 1, indent
		}
	}
	return 0, 0
}

// conflictMarker finds the first line of a merge conflict.
func conflictMarker(lines []string) int {
	for n, text := range lines {
		if strings.HasPrefix(text, "<<<<<<< ") || strings.HasPrefix(text, ">>>>>>> ") {
			return n + 1
		}
	}
	return 0
}

// colonBelow finds a colon and a space in the lines below a text without quotes, of several words, on the first line.
func colonBelow(lines []string) (n, offset int) {
	_, first, ok := strings.Cut(lines[0], ": ")
	if first = strings.TrimSpace(first); !ok || !strings.Contains(first, " ") || strings.ContainsAny(first[:1], "\"'[{|>&*!#") {
		return 0, 0
	}
	for n, text := range lines[1:] {
		if indentOf(text) == 0 && isContent(text) {
			break
		}
		if i := strings.Index(text, ": "); i >= 0 && isContent(text) {
			return n + 2, i
		}
		if text = strings.TrimRight(text, " \t\r"); strings.HasSuffix(text, ":") {
			return n + 2, len(text) - 1
		}
	}
	return 0, 0
}

// textAfterIndicator finds the > or | of a block scalar with text on its line.
func textAfterIndicator(lines []string) (n, offset int) {
	for n, text := range lines {
		_, value, ok := strings.Cut(text, ": ")
		value = strings.TrimLeft(value, " ")
		if ok && value != "" && (value[0] == '>' || value[0] == '|') && strings.TrimLeft(value[1:], " +-0123456789\r") != "" {
			return n + 1, len(text) - len(value)
		}
	}
	return 0, 0
}

// badEscape finds an escape that YAML does not know.
func badEscape(lines []string) (n, offset int) {
	for n, text := range lines {
		for i := 0; i+1 < len(text); i++ {
			switch {
			case text[i] != '\\':
				continue
			case !isEscape(text[i+1:]):
				return n + 1, i
			}
			i++
		}
	}
	return 0, 0
}

// isEscape reports whether text, which follows a backslash, is an escape sequence.
func isEscape(text string) bool {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[0]]
	for i := 1; i <= digits; i++ {
		if i >= len(text) || !isHex(text[i]) {
			return false
		}
	}
	return digits > 0 || strings.IndexByte("0abtnvfre \"/\\N_LP\t", text[0]) >= 0
}

// openQuote finds a quote that is not closed.
func openQuote(lines []string) (line, offset int) {
	for n, line := range lines {
		text := []byte(line)
		for i := 0; i < len(text); i++ {
			if c := text[i]; c != '"' && c != '\'' || !startsToken(text, i) {
				continue
			}
			end := scanQuoted(text, i)
			if end == len(text) && (end == i+1 || text[end-1] != text[i]) {
				return n + 1, i
			}
			i = end - 1
		}
	}
	return 0, 0
}

// openBracket finds the bracket that starts the value of a key or of a list's entry.
func openBracket(lines []string) (line, offset int) {
	for n, text := range lines {
		if i := strings.IndexAny(text, "[{"); i >= 0 && isContent(text) && startsToken([]byte(text), i) {
			return n + 1, i
		}
	}
	return 0, 0
}

// afterClosing finds text between the closing quote or bracket of a key's value and the end of the line.
func afterClosing(lines []string) (line, offset int, closing string) {
	for n, text := range lines {
		_, value, ok := strings.Cut(text, ": ")
		start := len(text) - len(strings.TrimLeft(value, " "))
		if !ok || start == len(text) {
			continue
		}
		var end int
		switch text[start] {
		case '"', '\'':
			end, closing = scanQuoted([]byte(text), start), "quote"
		case '[', '{':
			end, _ = scanFlow([]byte(text), start)
			closing = "bracket"
		default:
			continue
		}
		if rest := strings.TrimSpace(text[end:]); rest != "" && rest[0] != '#' {
			return n + 1, end + indentOf(text[end:]), closing
		}
	}
	return 0, 0, ""
}

// notAnItem finds a line below a list's entries that is not an entry.
func notAnItem(lines []string) (line int) {
	items := make(map[int]bool) // indentations of entries
	for n, text := range lines {
		switch indent := indentOf(text); {
		case !isContent(text):
		case strings.HasPrefix(text[indent:], "-"):
			items[indent] = true
		case items[indent]:
			return n + 1
		}
	}
	return 0
}

// badIndent finds a line that is indented less than the one above it, and unlike any line further up.
func badIndent(lines []string) (line int) {
	var open []int // indentations, ascending
	full := false  // the line above has a value, so nothing can be nested below it
	for n, text := range lines {
		if !isContent(text) {
			continue
		}
		indent, back := indentOf(text), false
		for len(open) > 0 && open[len(open)-1] > indent {
			open, back = open[:len(open)-1], true
		}
		if len(open) == 0 || open[len(open)-1] < indent {
			if back || full {
				return n + 1
			}
			open = append(open, indent)
		}
		_, value, _ := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		full = value != "" && !strings.ContainsRune("#|>[{", rune(value[0]))
	}
	return 0
}
