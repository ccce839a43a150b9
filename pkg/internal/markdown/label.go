package markdown

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// foldLabel appends a label in its form for comparison: trimmed, with runs of spaces as one space and case folded.
func foldLabel(b, label []byte) []byte {
	space := false
	for label = bytes.Trim(label, " \t\n\v\f\r"); len(label) > 0; {
		c := label[0]
		if isSpace(c) {
			space = true
			label = label[1:]
			continue
		}
		if space {
			b = append(b, ' ')
			space = false
		}
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			b = append(b, c)
			label = label[1:]
			continue
		}
		char, size := utf8.DecodeRune(label)
		if char == utf8.RuneError {
			b = append(b, label[:size]...)
		} else {
			b = foldRune(b, char)
		}
		label = label[size:]
	}
	return b
}

// foldRune appends the folding of a letter. Letters that differ only in case fold to the first of them.
func foldRune(b []byte, char rune) []byte {
	if long := longFold(char); long != "" {
		for _, c := range long {
			b = foldRune(b, c)
		}
		return b
	}
	first := char
	for next := unicode.SimpleFold(char); next != char; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	if first >= 'A' && first <= 'Z' { // like ASCII letters
		first += 'a' - 'A'
	}
	return utf8.AppendRune(b, first)
}
