package textdiff

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote writes a path as git does: unchanged, or, if it has unusual characters, in double quotes with escapes.
func quote(path string) string {
	odd := !utf8.ValidString(path) || strings.ContainsAny(path, "\"\\") || strings.ContainsFunc(path, isInvisible)
	if !odd {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= 0x20 && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "\\%03o", c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Visible makes a text safe for a terminal: it writes control characters, characters that change the direction of
// writing or are invisible, and invalid bytes as <U+202E> or <0xFF>, and a carriage return as ^M. Line ends, tabs and
// the emoji selector U+FE0F stay.
func Visible(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isEscaped) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<0x%02X>", text[i])
		case r == '\r':
			b.WriteString("^M")
		case isEscaped(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// isEscaped reports whether Visible escapes a character.
func isEscaped(r rune) bool { return r != '\n' && r != '\t' && r != '\ufe0f' && isInvisible(r) }

// isInvisible reports whether a character is invisible: not graphic according to Unicode, a variation selector, or a
// letter or symbol without a shape.
func isInvisible(r rune) bool {
	switch {
	case r < 0x7f:
		return r < 0x20
	case !unicode.IsGraphic(r), unicode.Is(unicode.Variation_Selector, r):
		return true
	}
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0':
		return true
	}
	return false
}
