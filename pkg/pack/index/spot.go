package index

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// spot is a place in a line: the value at the end of steps, which are keys and numbers of elements, or an offset where
// there are none.
type spot struct {
	steps  []any
	offset int
}

func at(steps ...any) spot { return spot{steps: steps} }

// in returns the offset in a line. A step that is not there leads no further; a key without steps behind it that is not
// there means the object. The line is valid JSON unless the spot is an offset.
func (s spot) in(raw []byte) int {
	if len(s.steps) == 0 {
		return max(0, min(s.offset, len(raw)))
	}
	start := len(raw) - len(bytes.TrimLeft(raw, space))
	end := len(bytes.TrimRight(raw, space))
	for _, step := range s.steps {
		found := false
		for key, m := range members(raw[start:end]) {
			if n, ok := step.(int); ok && n == m.number || !ok && strings.EqualFold(key, step.(string)) {
				start, end, found = start+m.start, start+m.end, true
				break
			}
		}
		if !found {
			break
		}
	}
	return start
}

const space = " \t\r\n"

// member is a value in an object or array.
type member struct {
	number     int // from 0
	start, end int // offsets
}

// members yields the values of an object with their keys, or those of an array, in order; of another value none. The
// JSON is valid.
func members(raw []byte) iter.Seq2[string, member] {
	return func(yield func(string, member) bool) {
		if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
			return
		}
		i := 1
		for n := 0; ; n++ {
			i = next(raw, i)
			if raw[i] == '}' || raw[i] == ']' {
				return
			}
			key := ""
			if raw[0] == '{' {
				end := stringEnd(raw, i)
				_ = json.Unmarshal(raw[i:end], &key) // it is valid
				i = next(raw, end)
			}
			end := valueEnd(raw, i)
			if !yield(key, member{n, i, end}) {
				return
			}
			i = end
		}
	}
}

// next passes over space, commas and colons.
func next(raw []byte, i int) int {
	for strings.IndexByte(space+",:", raw[i]) >= 0 {
		i++
	}
	return i
}

// valueEnd returns where the value that begins at raw[i] ends.
func valueEnd(raw []byte, i int) int {
	if raw[i] == '"' {
		return stringEnd(raw, i)
	}
	for depth := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			i = stringEnd(raw, i) - 1
		case c == '{' || c == '[':
			depth++
		case depth == 0 && strings.IndexByte(space+",]}", c) >= 0:
			return i
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(raw)
}
