package console

import "strings"

// WithTilde returns a text in which the paths below the home directory start with ~. Other directories that start with
// the same characters, URLs, and values such as --config=PATH, in which a shell does not expand ~, stay.
func WithTilde(home, text string) string {
	home = strings.TrimRight(home, `/\`)
	if home == "" {
		return text
	}
	var b strings.Builder
	done := 0
	for {
		i := strings.Index(text[done:], home)
		if i < 0 {
			return b.String() + text[done:]
		}
		start, end := done+i, done+i+len(home)
		b.WriteString(text[done:start])
		if startsPath(text[:start]) && endsName(text[end:]) {
			b.WriteString("~")
		} else {
			b.WriteString(home)
		}
		done = end
	}
}

// startsPath reports whether a path can start after a text: a space, an opening quote or bracket, or a color.
func startsPath(before string) bool {
	if before == "" || strings.ContainsRune(" \t\n\"'([", rune(before[len(before)-1])) {
		return true
	}
	i := strings.LastIndex(before, "\x1b[")
	return i >= 0 && strings.Trim(before[i+2:len(before)-1], "0123456789;") == "" && before[len(before)-1] == 'm'
}

// endsName reports whether the name of a directory ends before a text.
func endsName(after string) bool {
	if after == "" || strings.ContainsRune("/\\ \t\n\"')],:;\x1b", rune(after[0])) {
		return true
	}
	return after == "." || strings.HasPrefix(after, ". ") || strings.HasPrefix(after, ".\n")
}

// homeOf returns the home directory for output to a stream, or "" if it is not abbreviated.
func homeOf(stream any) string {
	if o := outputOf(stream); o != nil {
		return o.Home
	}
	return ""
}
