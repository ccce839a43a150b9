package skill

import "strings"

// SplitArguments splits arguments as a shell does: at spaces, tabs, and newlines outside of quotes. A backslash escapes
// the next character, in double quotes only ", \, $, and `. It never fails: an unclosed quote and a final backslash are
// ordinary characters, so that "the user's bug" is three words.
func SplitArguments(arguments string) []string {
	var out []string
	var word strings.Builder
	started := false
	lastSingle, noDouble := strings.LastIndexByte(arguments, '\''), false
	for i := 0; i < len(arguments); i++ {
		c := arguments[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if started {
				out = append(out, word.String())
				word.Reset()
				started = false
			}
			continue
		case c == '\\' && i+1 < len(arguments):
			i++
			word.WriteByte(arguments[i])
		case c == '\'' && i < lastSingle:
			end := i + 1 + strings.IndexByte(arguments[i+1:], '\'')
			word.WriteString(arguments[i+1 : end])
			i = end
		case c == '"' && !noDouble:
			end := closing(arguments, i+1)
			if end < 0 {
				noDouble = true // nor does any later quote close
				word.WriteByte(c)
			} else {
				unescape(&word, arguments[i+1:end])
				i = end
			}
		default:
			word.WriteByte(c)
		}
		started = true
	}
	if started {
		out = append(out, word.String())
	}
	return out
}

// closing returns the offset of the double quote that closes the one before start, or -1.
func closing(s string, start int) int {
	for i := start; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// unescape returns the content of double quotes.
func unescape(w *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0 {
			i++
		}
		w.WriteByte(s[i])
	}
}
