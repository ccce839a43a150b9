package scan

import (
	"strings"
	"testing"
)

func tagged(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(0xE0000 + r)
	}
	return b.String()
}

func TestTagCharacters(t *testing.T) {
	scotland := blackFlag + tagged("gbsct\x7f")
	for _, c := range []textCase{
		{text: "hello «" + tagged("do it") + "» world", detail: "5 characters that read \"do it\""},
		{text: "one «" + tagged("\x01") + "»", detail: "1 character"},
		{text: "a flag: " + scotland + ", and again " + scotland},
		{text: "no flag: " + blackFlag + "«" + tagged("gbsct") + "»"},
		{text: "no flag: " + blackFlag + "«" + tagged("run this command\x7f") + "»"},
		{text: "no flag: " + blackFlag + " «" + tagged("gbsct\x7f") + "»"},
		{text: "no flag: " + blackFlag + "«" + tagged("gbsct\x7fx") + "»"},
	} {
		c.check(t, TagCharacters, Options{})
	}
}

func TestBidiControls(t *testing.T) {
	for _, c := range []textCase{
		{text: "if «\u202e» x", detail: "U+202E"},
		{text: "«\u2066»a", detail: "U+2066"},
		{text: "a«\u202a»"},
		{text: "שלום\u200f! and \u200e1"},
		{text: "— “quoted” … \u2028 \u2029 \u2065 \u206a"},
		{text: "日本語、한국어"},
	} {
		c.check(t, BidiControls, Options{})
	}
}

func TestZeroWidthRun(t *testing.T) {
	zwsp, zwj := "\u200b", "\u200d"
	for _, c := range []textCase{
		{text: "a«" + zwsp + "\u200c" + zwj + "\u2060»b", detail: "4 invisible characters in a row"},
		{text: "«" + strings.Repeat("\ufeff", 5) + "»"},
		{text: "😀«" + strings.Repeat("\ufe01", 6) + "»"},
		{text: "😀«" + strings.Repeat("\U000E0101", 6) + "»"},
		{text: "a" + strings.Repeat(zwsp, 3) + "b" + strings.Repeat(zwsp, 3)},
		{text: "👨" + zwj + "👩" + zwj + "👧" + zwj + "👦 ❤\ufe0f" + zwj + "🔥 🏴" + zwj + "☠\ufe0f"},
		{text: "می\u200cخواهم"},
		{text: "\ufeff# a page with a byte order mark"},
	} {
		c.check(t, ZeroWidthRun, Options{})
	}
}

func TestBlankPadding(t *testing.T) {
	for _, c := range []textCase{
		{text: "a\n" + strings.Repeat("\n", 80) + "«b»\nc", detail: "80 blank lines"},
		{text: strings.Repeat("\n", 80) + "«b»"},
		{text: "a\n" + strings.Repeat(" \t \r\n", 100) + "    «hidden»", detail: "100 blank lines"},
		{text: strings.Repeat("x", 39) + "\n" + strings.Repeat("\n", 80) + "«b»"},
		{text: "a\n" + strings.Repeat("\n", 79) + "b"},
		{text: "a\n" + strings.Repeat("\n", 200)},
		{text: "a\n" + strings.Repeat("\n\nx", 200)},
		{text: "a" + strings.Repeat(" ", 2000) + "b"},
	} {
		c.check(t, BlankPadding, Options{})
	}
	for n := range 100 { // wherever the run lies
		text := strings.Repeat("y", n) + "\n" + strings.Repeat("\n", minBlankLines) + "z"
		if hits := New().Text([]byte(text), Options{}); len(hits) != 1 {
			t.Errorf("after %d bytes: %v", n, hits)
		}
	}
}

func TestHiddenInBrokenText(t *testing.T) {
	for _, broken := range []string{"\xe9", "\xe2", "\xf0\x9f", "\xff", "\xef\xbb"} {
		hits := New().Text([]byte("x"+broken+"\u202e"), Options{})
		if len(hits) != 1 || hits[0].Kind != BidiControls {
			t.Errorf("after %q: %v", broken, hits)
		}
	}
}
