package pack

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// document is a YAML file that is edited by replacing bytes. Every edit parses the result anew, so that nodes always
// have the places they stand at. Edits do what is usual in the files that people write; that the result means what was
// wanted is for the caller to check.
type document struct {
	reader
	data  []byte
	root  *yaml.Node // nil for a file without content
	lines []int      // offset of the first byte of each line, as YAML counts lines
	eol   string
}

func newDocument(path string, data []byte) (*document, error) {
	d := &document{reader: reader{path: path}}
	return d, d.load(data)
}

func (d *document) load(data []byte) error {
	root, err := d.mapping(data, maxFile)
	if err != nil {
		return err
	}
	d.data, d.root, d.eol = data, root, "\n"
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		d.eol = "\r\n"
	}
	d.lines = lineStarts(data)
	return nil
}

// lineStarts returns the offsets at which YAML begins a new line: after a carriage return and line feed or either
// alone, and after the three Unicode characters that YAML 1.1 counts as line breaks. A byte order mark is no column.
func lineStarts(data []byte) []int {
	at := 0
	if bytes.HasPrefix(data, bom) {
		at = len(bom)
	}
	starts := []int{at}
	for i := at; i < len(data); i++ {
		switch {
		case data[i] == '\n', data[i] == '\r' && (i+1 == len(data) || data[i+1] != '\n'):
			starts = append(starts, i+1)
		case bytes.HasPrefix(data[i:], []byte("\u0085")):
			starts = append(starts, i+2)
		case bytes.HasPrefix(data[i:], []byte("\u2028")), bytes.HasPrefix(data[i:], []byte("\u2029")):
			starts = append(starts, i+3)
		}
	}
	return starts
}

// offset returns the byte that a node starts at.
func (d *document) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(d.lines) {
		return len(d.data)
	}
	at := d.lines[n.Line-1]
	for column := 1; column < n.Column && at < len(d.data); column++ {
		_, size := utf8.DecodeRune(d.data[at:])
		at += size
	}
	return at
}

// line returns the bytes of a line, counted from 1, without its end.
func (d *document) line(n int) []byte {
	end := len(d.data)
	if n < len(d.lines) {
		end = d.lines[n]
	}
	return bytes.TrimRight(d.data[d.lines[n-1]:end], "\r\n")
}

// splice replaces data[start:end] by text.
func (d *document) splice(start, end int, text string) error {
	out := make([]byte, 0, len(d.data)-(end-start)+len(text))
	out = append(out, d.data[:start]...)
	out = append(out, text...)
	return d.load(append(out, d.data[end:]...))
}

// entry is a key and a value of a mapping that was reached from the root.
type entry struct {
	parent   *yaml.Node
	index    int // of the key in parent.Content
	key, val *yaml.Node
	next     int // the first line that is not the entry's any more: that of the next key of it or of a parent
}

// find follows a path of keys from the root. It returns the entries that exist, which are fewer than the keys when the
// path ends early.
func (d *document) find(path ...string) []entry {
	var found []entry
	node, next := d.root, d.endLine()
	for _, key := range path {
		e, ok := child(node, key, next)
		if !ok {
			break
		}
		found = append(found, e)
		node, next = e.val, e.next
	}
	return found
}

// child returns the entry of a key of a mapping that ends before the line next.
func child(node *yaml.Node, key string, next int) (entry, bool) {
	if node == nil || node.Kind != yaml.MappingNode {
		return entry{}, false
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value != key {
			continue
		}
		if i+2 < len(node.Content) {
			next = node.Content[i+2].Line
		}
		return entry{parent: node, index: i, key: node.Content[i], val: node.Content[i+1], next: next}, true
	}
	return entry{}, false
}

// endLine returns the first line that is not the document's: that of its end marker, or the one after the last.
func (d *document) endLine() int {
	first := 1
	if d.root != nil {
		first = d.root.Line
	}
	for n := first; n <= len(d.lines); n++ {
		if text := d.line(n); bytes.Equal(text, []byte("...")) || bytes.HasPrefix(text, []byte("... ")) {
			return n
		}
	}
	return len(d.lines) + 1
}

// lastLine returns the last line of an entry of a block mapping: comments that are indented deeper than its key are its
// own, other comments and blank lines after it are not.
func (d *document) lastLine(e entry) int {
	n := e.next - 1
	for ; n > e.key.Line; n-- {
		text := d.line(n)
		trimmed := bytes.TrimLeft(text, " ")
		if len(trimmed) > 0 && (trimmed[0] != '#' || len(text)-len(trimmed) >= e.key.Column) {
			break
		}
	}
	return n
}

// lineEnd returns the offset after a line and its end.
func (d *document) lineEnd(n int) int {
	if n < len(d.lines) {
		return d.lines[n]
	}
	return len(d.data)
}

func isFlow(n *yaml.Node) bool { return n != nil && n.Style&yaml.FlowStyle != 0 }

// remove deletes the entry at path, and says whether there was one. The comments above it stay.
func (d *document) remove(path ...string) (bool, error) {
	found := d.find(path...)
	if len(found) < len(path) {
		return false, nil
	}
	e := found[len(path)-1]
	if isFlow(e.parent) {
		return true, d.removeFlow(e)
	}
	start, end := d.lines[e.key.Line-1], d.lineEnd(d.lastLine(e))
	if len(bytes.TrimLeft(d.data[start:d.offset(e.key)], " ")) > 0 {
		return true, d.refuse(e.key, "remove "+strings.Join(path, ": "))
	}
	return true, d.splice(start, end, "")
}

func (d *document) removeFlow(e entry) error {
	switch {
	case e.index+2 < len(e.parent.Content):
		return d.splice(d.offset(e.key), d.offset(e.parent.Content[e.index+2]), "")
	case e.index > 0:
		before := e.parent.Content[e.index-2 : e.index]
		return d.splice(d.pairEnd(before[0], before[1]), d.pairEnd(e.key, e.val), "")
	default:
		start := d.offset(e.parent) + 1
		return d.splice(start, d.pairEnd(e.key, e.val), "")
	}
}

// pairEnd returns the offset after a value in a flow mapping, or after its key if it has no value.
func (d *document) pairEnd(k, v *yaml.Node) int {
	if isNull(v) && v.Value == "" {
		return d.valueEnd(k, true)
	}
	return d.valueEnd(v, true)
}

// shapeError says that an edit cannot be made in what is written at a place.
type shapeError struct{ err *fault }

// Error, Code and Hint are those of the error that it holds.
func (e *shapeError) Error() string   { return e.err.Error() }
func (e *shapeError) Code() diag.Code { return e.err.Code() }
func (e *shapeError) Hint() string    { return e.err.Hint() }

// refuse is the error for a place that is written in a way that no edit can be made in.
func (d *document) refuse(n *yaml.Node, todo string) error {
	return &shapeError{d.errorf(n, "this cannot be edited as it is written").WithHint("edit %s by hand: %s", d.path, todo)}
}
