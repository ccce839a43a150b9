package index

import (
	"bytes"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
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
		for m := range jsonx.Members(raw[start:end]) {
			if n, ok := step.(int); ok && n == m.Index || !ok && strings.EqualFold(m.Key, step.(string)) {
				start += m.Offset
				end, found = start+len(m.Value), true
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
