package skill

import "strings"

// SplitArguments splits arguments as a shell does: at spaces, tabs and newlines that are not in quotes. A backslash
// takes the meaning of what follows it, in double quotes only of ", \, $ and `. It never fails: a quote that nothing
// closes is a character like any other, so that "the user's bug" is three words, and so is a backslash at the end.
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
				noDouble = true // nor for any quote after it
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

// closing returns where the double quotes end that were opened before start, or -1.
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

// unescape writes what stands in double quotes.
func unescape(w *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0 {
			i++
		}
		w.WriteByte(s[i])
	}
}
