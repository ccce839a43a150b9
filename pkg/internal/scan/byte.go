package scan

import "bytes"

// class is a set of classes of bytes.
type class uint16

// The classes.
const (
	isDigit  class = 1 << iota
	isUpper        // A-Z
	isLower        // a-z
	isBase64       // letters, digits, + and /, and - and _ of the variant for addresses
	isHex
	isBlank   // space, tab, carriage return, vertical tab, form feed and newline
	isURL     // what an address may hold and is not likely to end it
	isHidden  // the first byte of a character that hides something, and of others
	isForeign // the first byte of Greek, Cyrillic, and Armenian letters
	isWordy   // what continues a name: letters, digits and underscores
)

const isLetter = isUpper | isLower

var classes = func() (t [256]class) {
	set := func(s string, c class) {
		for _, b := range []byte(s) {
			t[b] |= c
		}
	}
	const upper, lower, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
	set(digits, isDigit|isHex)
	set(upper, isUpper)
	set(lower, isLower)
	set("abcdefABCDEF", isHex)
	set(upper+lower+digits+"+/-_", isBase64)
	set(upper+lower+digits+"_", isWordy)
	set(" \t\r\n\v\f", isBlank)
	set(upper+lower+digits+"-._~:/?#@!$&+,;=%", isURL)
	set("\xe1\xe2\xef\xf3\xcd", isHidden)
	set("\xce\xcf\xd0\xd1\xd2\xd3\xd4\xd5", isForeign)
	return t
}()

func is(c byte, set class) bool { return classes[c]&set != 0 }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// toLowerASCII returns a copy of b with A to Z in lower case. Unlike bytes.ToLower it keeps the length of invalid
// UTF-8.
func toLowerASCII(b []byte) []byte {
	small := make([]byte, len(b))
	for i, c := range b {
		small[i] = lower(c)
	}
	return small
}

// isFold reports whether b is s, which is in small letters, in any case.
func isFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if lower(c) != s[i] {
			return false
		}
	}
	return true
}

// hasFold reports whether b starts with s, which is in small letters, in any case.
func hasFold(b []byte, s string) bool { return len(b) >= len(s) && isFold(b[:len(s)], s) }

// oneOf reports whether b is one of the texts, which are in small letters, in any case.
func oneOf(b []byte, texts ...string) bool {
	for _, s := range texts {
		if isFold(b, s) {
			return true
		}
	}
	return false
}

// containsAny reports whether b holds one of the texts; case counts.
func containsAny(b []byte, texts ...string) bool {
	for _, s := range texts {
		if bytes.Contains(b, []byte(s)) {
			return true
		}
	}
	return false
}

// before returns the byte before i, and a newline at the start of the text.
func (t *text) before(i int) byte {
	if i <= 0 {
		return '\n'
	}
	return t.data[i-1]
}

// after returns the byte at i, and a newline at the end of the text.
func (t *text) after(i int) byte {
	if i >= len(t.data) {
		return '\n'
	}
	return t.data[i]
}

// skipSpace returns the first position at or after i that holds no space or tab.
func (t *text) skipSpace(i int) int {
	for i < len(t.data) && (t.data[i] == ' ' || t.data[i] == '\t') {
		i++
	}
	return i
}

// lineStart returns where the line of i begins, at most n bytes before it.
func (t *text) lineStart(i, n int) int {
	from := max(0, i-n)
	from += bytes.LastIndexByte(t.data[from:i], '\n') + 1
	t.scanned += i - from
	return from
}

// farStart is lineStart with a long reach, until farStart has read too much.
func (t *text) farStart(i int) int {
	n := 1000
	if t.lookedBack > 16<<10+4*len(t.data) {
		n = 100
	}
	from := t.lineStart(i, n)
	t.lookedBack += i - from
	return from
}

// lineEnd returns where the line of i ends, at most n bytes after it.
func (t *text) lineEnd(i, n int) int {
	to := min(len(t.data), i+n)
	if k := bytes.IndexByte(t.data[i:to], '\n'); k >= 0 {
		to = i + k
	}
	t.scanned += to - i
	return to
}

// around returns the text from n bytes before i to m bytes after it in lower case. The next call overwrites it.
func (t *text) around(i, n, m int) []byte {
	from, to := max(0, i-n), min(len(t.data), i+m)
	t.scanned += to - from
	t.lowered = t.lowered[:0]
	for _, c := range t.data[from:to] {
		t.lowered = append(t.lowered, lower(c))
	}
	return t.lowered
}
