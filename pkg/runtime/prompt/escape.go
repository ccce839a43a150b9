package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// line returns a text on one line: it collapses white space and removes characters that control a terminal, reorder
// text, or are invisible.
func line(s string) string {
	if needsNoEscape(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = true
		case hidden(r):
		default:
			if space && b.Len() > 0 {
				b.WriteByte(' ')
			}
			space = false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// path escapes characters of a file's path that cannot be on one line; spaces stay.
func path(s string) string { return textx.EscapeFunc(s, hidden) }

// needsNoEscape reports whether [line] would not change a text: it is printable ASCII with single spaces inside.
func needsNoEscape(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

// hidden reports whether a character is invisible. Joiners, which scripts and emoji need, are not.
func hidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner ||
		r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Variation_Selector, r) && r > '\uffff'
}

// head returns the first n characters of a text, with an ellipsis as the last one if it was longer, and whether it was.
func head(s string, n int) (string, bool) {
	if n <= 0 || len(s) <= n {
		return s, false
	}
	seen := 0
	cut := 0
	for i := range s {
		if seen == n-1 {
			cut = i
		}
		if seen == n {
			return strings.TrimRight(s[:cut], " ") + "…", true
		}
		seen++
	}
	return s, false
}

// escape escapes a value as a layout demands, so that it cannot end its section.
func escape(how, s string) string {
	switch how {
	case "xml":
		return xmlText(s)
	case "tags":
		return tagText(s)
	default:
		return s
	}
}

func xmlText(s string) string {
	if !strings.ContainsAny(s, `&<>"'`) {
		return s
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(s)
}

// tagText escapes each < that may start a tag, and leaves signs of comparison unchanged.
func tagText(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if r == '<' && i+1 < len(s) && startsTag(s[i+1:]) {
			b.WriteString("&lt;")
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func startsTag(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return r == '/' || r == '!' || r == '?' || unicode.IsLetter(r)
}
