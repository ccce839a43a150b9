package connect

import (
	"bytes"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// splice replaces bytes: those at Offset that were Old are as many as Length says now.
type splice = yamlx.Splice

// text is a file's bytes, and what was done to them.
type text struct {
	data []byte
	log  []splice
	eol  string
}

var bom = []byte("\xef\xbb\xbf")

func newText(data []byte) text {
	eol := "\n"
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		eol = "\r\n"
	}
	return text{data: data, eol: eol}
}

// replace puts text in the place of the bytes from start to end.
func (t *text) replace(start, end int, text string) {
	if string(t.data[start:end]) == text {
		return
	}
	t.log = append(t.log, splice{Offset: start, Old: string(t.data[start:end]), Length: len(text)})
	t.data = slices.Concat(t.data[:start], []byte(text), t.data[end:])
}

// undo takes splices back, the last one first. It reports whether they fit.
func undo(data []byte, log []splice) ([]byte, bool) {
	for _, s := range slices.Backward(log) {
		if s.Offset < 0 || s.Length < 0 || s.Offset+s.Length > len(data) {
			return nil, false
		}
		data = slices.Concat(data[:s.Offset], []byte(s.Old), data[s.Offset+s.Length:])
	}
	return data, true
}

// lineStart returns the offset of the line that an offset is in.
func (t *text) lineStart(offset int) int { return bytes.LastIndexByte(t.data[:offset], '\n') + 1 }

// lineIndent returns the white space that the line of an offset begins with.
func (t *text) lineIndent(offset int) string {
	line := t.data[t.lineStart(offset):]
	line = bytes.TrimPrefix(line, bom)
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
