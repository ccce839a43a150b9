package textx

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unsafe reports whether a character can control a terminal, end a line, or hide or reorder text. The emoji selectors
// are safe.
func Unsafe(r rune) bool {
	switch {
	case ' ' <= r && r <= '~', r == '\ufe0e', r == '\ufe0f':
		return false
	}
	return unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Hidden is [Unsafe] for a page, which needs the joiners of scripts and emoji, and marks invalid bytes.
func Hidden(r rune) bool {
	return r != '\u200c' && r != '\u200d' && r != unicode.ReplacementChar && Unsafe(r)
}

// unsafeInText is [Unsafe] for texts of several lines.
func unsafeInText(r rune) bool { return r != '\n' && r != '\t' && Unsafe(r) }

// Printable returns a value of others on one line: unsafe characters, line breaks, and tabs are escaped.
func Printable(s string) string { return EscapeFunc(s, Unsafe) }

// PrintableText is [Printable] for a text that may have several lines: line breaks and tabs stay.
func PrintableText(s string) string { return EscapeFunc(s, unsafeInText) }

// EscapeFunc returns a text in which the characters that are unsafe are escaped as \uXXXX.
func EscapeFunc(s string, unsafe func(rune) bool) string {
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unsafe(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Guard passes text on to a log, and escapes a character of what CI systems execute when they read it there: workflow
// commands at the start of a line (::set-output), and service messages anywhere (##[group], ##vso[, ##teamcity[). In
// strings of a JSON document, the escape keeps the value. A Guard with an Out is at the start of a line.
type Guard struct {
	Out    io.Writer
	begun  bool   // this line has a character besides white space
	colon  bool   // that character is the last one, and a colon
	before []byte // the word before, from a number sign
}

// Write writes text with commands escaped. It returns the number of bytes of the text.
func (g *Guard) Write(text []byte) (int, error) {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		switch {
		case c == ':' && g.colon:
			out = append(out, `\u003a`...)
		case c == '[' && g.addressed():
			out = append(out, `\u005b`...)
		default:
			out = append(out, c)
		}
		g.step(c)
	}
	if _, err := g.Out.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// step remembers a byte. Readers of logs trim white space of all of Unicode, so bytes outside of ASCII count as such.
func (g *Guard) step(c byte) {
	switch {
	case c == '\n' || c == '\r':
		g.begun, g.colon = false, false
	case !g.begun && (c <= ' ' || c >= utf8.RuneSelf):
	default:
		g.begun, g.colon = true, !g.begun && c == ':'
	}
	switch letter := c | 0x20; {
	case c == '#' && bytes.Trim(g.before, "#") == nil:
		g.before = append(g.before[:min(1, len(g.before))], c)
	case c == '#':
		g.before = append(g.before[:0], c)
	case len(g.before) > 0 && len(g.before) < 16 && 'a' <= letter && letter <= 'z':
		g.before = append(g.before, letter)
	default:
		g.before = g.before[:0]
	}
}

// addressed reports whether a bracket after the text begins a service message.
func (g *Guard) addressed() bool {
	switch string(g.before) {
	case "##", "##vso", "##teamcity":
		return true
	}
	return false
}
