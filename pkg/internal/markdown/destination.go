package markdown

import (
	"bytes"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendDestination appends a link's destination, with escapes and entities resolved.
func appendDestination(b, destination []byte) []byte {
	for {
		i := bytes.IndexAny(destination, `\&`)
		if i < 0 {
			return append(b, destination...)
		}
		b = append(b, destination[:i]...)
		destination = destination[i:]
		n := 1
		if destination[0] == '&' {
			b, n = appendEntity(b, destination)
		} else if len(destination) > 1 && isPunct(destination[1]) {
			b, n = append(b, destination[1]), 2
		} else {
			b = append(b, '\\')
		}
		destination = destination[n:]
	}
}

// appendValue appends the value of an attribute with entities resolved.
func appendValue(b, value []byte) []byte {
	if bytes.IndexByte(value, '&') < 0 {
		return append(b, value...)
	}
	return append(b, html.UnescapeString(string(value))...)
}

// maxEntity is longer than the longest name of an entity.
const maxEntity = 40

// appendEntity appends the characters of the entity at the start of a text, or an ampersand if there is none. It
// returns the number of bytes that it read.
func appendEntity(b, text []byte) (after []byte, length int) {
	end := 1
	for end < len(text) && end < maxEntity && (isAlnum(text[end]) || end == 1 && text[end] == '#') {
		end++
	}
	if end == len(text) || text[end] != ';' {
		return append(b, '&'), 1
	}
	name := string(text[1:end])
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		char, ok := codePoint(digits)
		if !ok {
			return append(b, '&'), 1
		}
		return utf8.AppendRune(b, char), end + 1
	}
	// Names that work without a semicolon: at least two characters remain, except after one-letter results.
	chars := html.UnescapeString("&" + name + ";")
	if utf8.RuneCountInString(chars) > 2 {
		return append(b, '&'), 1
	}
	return append(b, chars...), end + 1
}

// codePoint returns the character of a numeric entity: at most 7 digits, or an x and at most 6 hexadecimal digits.
func codePoint(digits string) (char rune, ok bool) {
	base, most := 10, 7
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		digits, base, most = digits[1:], 16, 6
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || len(digits) > most {
		return 0, false
	}
	if n == 0 || !utf8.ValidRune(rune(n)) {
		return utf8.RuneError, true
	}
	return rune(n), true
}
