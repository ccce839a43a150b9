package syntax

import (
	"bytes"
	"math/bits"
)

// maxJSONDepth limits the nesting of arrays and objects. Readers reject deeper ones, many of them much earlier.
const maxJSONDepth = 10_000

// jsonScanner checks JSON without building values. If one of its methods returns false, bad and message describe the
// error, unless the text is a template.
type jsonScanner struct {
	content []byte // the file
	text    []byte // the file up to the end of the document
	pos     int
	lenient bool // comments and commas after the last value are allowed

	depth   int
	objects [(maxJSONDepth + bits.UintSize) / bits.UintSize]uint // a bit for each open bracket: whether it is a brace
	comma   int                                                  // the comma that was read last

	bad      int
	message  string
	template bool
}

// The tokens that may come next.
const (
	wantValue = iota // at the start, after a colon, after a comma in an array
	wantItem         // after [
	wantKey          // after a comma in an object
	wantFirst        // after {
	wantComma        // after a value
)

// file reads a file of one document.
func (j *jsonScanner) file() bool {
	if !j.space() {
		return false
	}
	if j.pos == len(j.text) {
		return j.lenient || j.fail(0, "the file is empty: expected a JSON value")
	}
	if !j.document() || !j.space() {
		return false
	}
	return j.pos == len(j.text) || j.surplus()
}

// lines reads a file with one document on each line.
func (j *jsonScanner) lines() bool {
	for j.pos < len(j.content) {
		end := len(j.content)
		if n := bytes.IndexByte(j.content[j.pos:], '\n'); n >= 0 {
			end = j.pos + n
		}
		j.text = j.content[:end]
		if j.space(); j.pos < end && (!j.document() || !j.space() || j.pos < end && !j.surplus()) {
			return false
		}
		j.pos = end + 1
	}
	return true
}

// document reads one value with all its content.
func (j *jsonScanner) document() bool {
	j.depth = 0
	for state := wantValue; ; {
		if !j.space() {
			return false
		}
		if j.pos == len(j.text) {
			return j.unfinished()
		}
		var ok bool
		switch c := j.text[j.pos]; state {
		case wantComma:
			state, ok = j.afterValue(c)
		case wantKey, wantFirst:
			if c == '}' && (state == wantFirst || j.lenient) {
				state, ok = j.closed(), true
			} else {
				state, ok = wantValue, j.key(c)
			}
		default:
			if c == ']' && (state == wantItem || j.lenient && j.depth > 0 && !j.inObject()) {
				state, ok = j.closed(), true
			} else {
				state, ok = j.value(c)
			}
		}
		if !ok {
			return false
		}
		if j.depth == 0 {
			return true
		}
	}
}

func (j *jsonScanner) afterValue(c byte) (int, bool) {
	object := j.inObject()
	switch {
	case c == ',':
		j.comma = j.pos
		j.pos++
		if object {
			return wantKey, true
		}
		return wantValue, true
	case c == '}' && object, c == ']' && !object:
		return j.closed(), true
	}
	return wantComma, j.noComma(c)
}

// key reads a key and its colon.
func (j *jsonScanner) key(c byte) bool {
	if c != '"' {
		return j.noKey(c)
	}
	if !j.quoted() || !j.space() {
		return false
	}
	if j.pos == len(j.text) || j.text[j.pos] != ':' {
		return j.noColon()
	}
	j.pos++
	return true
}

func (j *jsonScanner) value(c byte) (int, bool) {
	switch c {
	case '{':
		return wantFirst, j.open(true)
	case '[':
		return wantItem, j.open(false)
	case '"':
		return wantComma, j.quoted()
	case 't':
		return wantComma, j.literal("true")
	case 'f':
		return wantComma, j.literal("false")
	case 'n':
		return wantComma, j.literal("null")
	}
	if c == '-' || c-'0' <= 9 {
		return wantComma, j.number()
	}
	return wantComma, j.noValue(c)
}

func (j *jsonScanner) open(object bool) bool {
	if j.depth == maxJSONDepth {
		return j.fail(j.pos, "brackets are nested more than 10,000 levels deep")
	}
	word, bit := j.depth/bits.UintSize, uint(1)<<(j.depth%bits.UintSize)
	if object {
		j.objects[word] |= bit
	} else {
		j.objects[word] &^= bit
	}
	j.depth++
	j.pos++
	return true
}

func (j *jsonScanner) inObject() bool {
	top := j.depth - 1
	return j.objects[top/bits.UintSize]>>(top%bits.UintSize)&1 == 1
}

func (j *jsonScanner) closed() int {
	j.depth--
	j.pos++
	return wantComma
}

// space skips white space, and comments where they are allowed.
func (j *jsonScanner) space() bool {
	for j.pos < len(j.text) {
		switch j.text[j.pos] {
		case ' ', '\n', '\t', '\r':
			j.pos++
		case '/':
			end := j.pos
			if j.lenient {
				end = j.comment(j.pos)
			}
			if end == j.pos {
				return true
			}
			if end < 0 {
				return j.fail(j.pos, "the comment is not closed")
			}
			j.pos = end
		default:
			return true
		}
	}
	return true
}

// comment returns the end of the comment at an offset: the offset if there is none, -1 if it is not closed.
func (j *jsonScanner) comment(at int) int {
	rest := j.text[at:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			return at + n
		}
		return len(j.text)
	case bytes.HasPrefix(rest, []byte("/*")):
		if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
			return at + n + 4
		}
		return -1
	}
	return at
}

// jsonSpecial has the bytes that end a run of plain characters in a text: quotes, backslashes and control characters.
var jsonSpecial = [256]bool{
	0x00: true, 0x01: true, 0x02: true, 0x03: true, 0x04: true, 0x05: true, 0x06: true, 0x07: true,
	0x08: true, 0x09: true, 0x0a: true, 0x0b: true, 0x0c: true, 0x0d: true, 0x0e: true, 0x0f: true,
	0x10: true, 0x11: true, 0x12: true, 0x13: true, 0x14: true, 0x15: true, 0x16: true, 0x17: true,
	0x18: true, 0x19: true, 0x1a: true, 0x1b: true, 0x1c: true, 0x1d: true, 0x1e: true, 0x1f: true,
	'"': true, '\\': true,
}

// quoted reads a text in quotes.
func (j *jsonScanner) quoted() bool {
	text := j.text
	for i := j.pos + 1; i < len(text); i++ {
		c := text[i]
		if !jsonSpecial[c] {
			continue
		}
		switch c {
		case '"':
			j.pos = i + 1
			return true
		case '\\':
			n := escape(text[i:])
			if n == 0 {
				return j.badEscape(i)
			}
			i += n - 1
		default:
			return j.badControl(i)
		}
	}
	return j.notClosed()
}

// escape returns the length of the escape sequence that text starts with, or 0.
func escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) < 6 {
			return 0
		}
		for _, c := range text[2:6] {
			if c-'0' > 9 && c|0x20-'a' > 5 {
				return 0
			}
		}
		return 6
	}
	return 0
}

func (j *jsonScanner) literal(word string) bool {
	if !bytes.HasPrefix(j.text[j.pos:], []byte(word)) || isWord(j.text, j.pos+len(word)) {
		return j.noValue(j.text[j.pos])
	}
	j.pos += len(word)
	return true
}

// number reads a number: digits without a leading zero, a fraction, an exponent.
func (j *jsonScanner) number() bool {
	i := j.pos
	if j.text[i] == '-' {
		i++
	}
	integer := i
	i = j.digits(i)
	if i == integer || j.text[integer] == '0' && i > integer+1 {
		return j.badNumber()
	}
	if i < len(j.text) && j.text[i] == '.' {
		start := i + 1
		if i = j.digits(start); i == start {
			return j.badNumber()
		}
	}
	if i < len(j.text) && j.text[i]|0x20 == 'e' {
		start := i + 1
		if start < len(j.text) && (j.text[start] == '+' || j.text[start] == '-') {
			start++
		}
		if i = j.digits(start); i == start {
			return j.badNumber()
		}
	}
	if isWord(j.text, i) || i < len(j.text) && j.text[i] == '.' {
		return j.badNumber()
	}
	j.pos = i
	return true
}

// digits returns the end of the digits from i on.
func (j *jsonScanner) digits(i int) int {
	for i < len(j.text) && j.text[i]-'0' <= 9 {
		i++
	}
	return i
}

// isWord reports whether the byte at i is a letter, a digit, or an underscore.
func isWord(text []byte, i int) bool {
	return i < len(text) && (text[i] == '_' || text[i]-'0' <= 9 || text[i]|0x20-'a' <= 25)
}
