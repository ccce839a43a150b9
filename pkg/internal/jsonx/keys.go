package jsonx

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const space = " \t\r\n"

// CheckKeys checks only nesting and keys, like [Check], for data that is known to be valid JSON. It reads each byte
// once.
func CheckKeys(data []byte, o Options) error {
	limit := cmp.Or(o.MaxDepth, defaultDepth)
	var open []object // open objects and arrays
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if len(open) == limit {
				return (&Error{Kind: TooDeep, limit: limit}).setPosition(data, i)
			}
			open = append(open, object{hasKeys: data[i] == '{', keyNext: true})
		case '}', ']':
			open = open[:len(open)-1]
		case ',':
			open[len(open)-1].keyNext = true
		case '"':
			end := stringEnd(data, i)
			if len(open) > 0 && open[len(open)-1].hasKeys && open[len(open)-1].keyNext {
				if key := unquote(data[i:end]); !open[len(open)-1].add(key, o.ExactKeys) {
					return (&Error{Kind: DuplicateKey, Key: key}).setPosition(data, i)
				}
			}
			i = end - 1
		}
	}
	return nil
}

// object is an open object or array.
type object struct {
	hasKeys bool
	keyNext bool // the object, or its next member, has just begun
	few     []string
	many    map[string]bool
}

// manyKeys is the number of keys from which a map is faster than a slice.
const manyKeys = 16

// add adds a key, and reports whether it is new.
func (o *object) add(key string, exact bool) bool {
	o.keyNext = false
	if !exact {
		key = fold(key)
	}
	if o.many[key] || slices.Contains(o.few, key) {
		return false
	}
	if o.few = append(o.few, key); len(o.few) < manyKeys {
		return true
	}
	if o.many == nil {
		o.many = make(map[string]bool)
	}
	for _, known := range o.few {
		o.many[known] = true
	}
	o.few = o.few[:0]
	return true
}

// fold returns the same text for all keys that encoding/json matches to the same field.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r && r >= utf8.RuneSelf; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		if 'A' <= least && least <= 'Z' {
			least += 'a' - 'A'
		}
		return least
	}, key)
}

// unquote returns the text of a valid string.
func unquote(quoted []byte) (text string) {
	if text = string(quoted[1 : len(quoted)-1]); strings.Contains(text, `\`) {
		_ = json.Unmarshal(quoted, &text) // s is valid
	}
	return text
}

// Member is a value in an object or an array.
type Member struct {
	Key    string // in an object
	Index  int    // from 0
	Offset int    // of Value
	Value  json.RawMessage
}

// Members yields the members of an object or array in order, and nothing for other values. The data must be valid JSON;
// see [Check].
func Members(data []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		i := 0
		for i < len(data) && strings.IndexByte(space, data[i]) >= 0 {
			i++
		}
		if i == len(data) || data[i] != '{' && data[i] != '[' {
			return
		}
		isObject := data[i] == '{'
		i++
		for n := 0; ; n++ {
			if i = nextValue(data, i); data[i] == '}' || data[i] == ']' {
				return
			}
			m := Member{Index: n}
			if isObject {
				end := stringEnd(data, i)
				m.Key = unquote(data[i:end])
				i = nextValue(data, end)
			}
			end := valueEnd(data, i)
			m.Offset, m.Value = i, data[i:end:end]
			if !yield(m) {
				return
			}
			i = end
		}
	}
}

// nextValue passes over space, commas, and colons.
func nextValue(data []byte, i int) int {
	for strings.IndexByte(space+",:", data[i]) >= 0 {
		i++
	}
	return i
}

// stringEnd returns where the string that begins at data[i] ends.
func stringEnd(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd returns where the value that begins at data[i] ends.
func valueEnd(data []byte, i int) int {
	if data[i] == '"' {
		return stringEnd(data, i)
	}
	for depth := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			i = stringEnd(data, i) - 1
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
	return len(data)
}
