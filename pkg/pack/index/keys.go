package index

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxDepth bounds the nesting of a line's JSON, which a line of this format does not come near.
const maxDepth = 16

// checkKeys refuses an object that has a key twice, at any depth: two readers could take different values from it. Keys
// count as equal where encoding/json takes them for equal, in any case. The JSON is valid, so that one look at each
// byte is enough. The offset is that of the key.
func checkKeys(raw []byte) (offset int, err error) {
	if raw = bytes.TrimRight(raw, space); len(raw) == 0 || bytes.TrimLeft(raw, space)[0] != '{' {
		return 0, errors.New("a line is a JSON object")
	}
	var open []keys // the objects and arrays that are not closed yet
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			if len(open) == maxDepth {
				return i, errors.New("the JSON is nested too deeply")
			}
			open = append(open, keys{object: raw[i] == '{', next: true})
		case '}', ']':
			open = open[:len(open)-1]
		case ',':
			open[len(open)-1].next = true
		case '"':
			end := stringEnd(raw, i)
			if top := &open[len(open)-1]; top.object && top.next {
				if err := top.add(raw[i:end]); err != nil {
					return i, err
				}
			}
			i = end - 1
		}
	}
	return 0, nil
}

// stringEnd returns where the string that begins at raw[i] ends.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// keys are those of one object.
type keys struct {
	object bool
	next   bool // a key may come: the object or its next member has just begun
	few    []string
	many   map[string]bool
}

func (k *keys) add(quoted []byte) error {
	k.next = false
	var key string
	if err := json.Unmarshal(quoted, &key); err != nil {
		return err
	}
	folded := strings.ToLower(strings.ToUpper(key)) // ſ and the Kelvin sign are s and k
	if k.has(folded) {
		return fmt.Errorf("the key %q is there twice", key)
	}
	const few = 16
	if k.few = append(k.few, folded); len(k.few) < few {
		return nil
	}
	if k.many == nil {
		k.many = make(map[string]bool)
	}
	for _, old := range k.few {
		k.many[old] = true
	}
	k.few = k.few[:0]
	return nil
}

func (k *keys) has(folded string) bool {
	return slices.Contains(k.few, folded) || k.many[folded]
}
