package connect

import (
	"bytes"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// splice is an edit that replaced the bytes Old at Offset by Length other bytes.
type splice = yamlx.Splice

// text is the content of a file, and the edits of it.
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

// replace replaces the bytes from start to end by text.
func (t *text) replace(start, end int, text string) {
	if string(t.data[start:end]) == text {
		return
	}
	t.log = append(t.log, splice{Offset: start, Old: string(t.data[start:end]), Length: len(text)})
	t.data = slices.Concat(t.data[:start], []byte(text), t.data[end:])
}

// undo reverts splices, the last one first. It reports whether they fit.
func undo(data []byte, log []splice) ([]byte, bool) {
	for _, s := range slices.Backward(log) {
		if s.Offset < 0 || s.Length < 0 || s.Offset+s.Length > len(data) {
			return nil, false
		}
		data = slices.Concat(data[:s.Offset], []byte(s.Old), data[s.Offset+s.Length:])
	}
	return data, true
}

// lineStart returns the start of the line at an offset.
func (t *text) lineStart(offset int) int { return bytes.LastIndexByte(t.data[:offset], '\n') + 1 }

// lineIndent returns the indentation of the line at an offset.
func (t *text) lineIndent(offset int) string {
	line := t.data[t.lineStart(offset):]
	line = bytes.TrimPrefix(line, bom)
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}
