package index

import (
	"bytes"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// location is a value in a line: at the end of steps, which are keys and indices of elements, or at an offset if there
// are no steps.
type location struct {
	steps  []any
	offset int
}

func at(steps ...any) location { return location{steps: steps} }

// offsetIn returns the offset in a line, which is valid JSON if there are steps. If a step doesn't exist, it is the
// offset of the value before.
func (l location) offsetIn(raw []byte) int {
	if len(l.steps) == 0 {
		return max(0, min(l.offset, len(raw)))
	}
	start := len(raw) - len(bytes.TrimLeft(raw, space))
	end := len(bytes.TrimRight(raw, space))
	for _, step := range l.steps {
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
