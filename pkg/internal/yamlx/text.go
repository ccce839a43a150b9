package yamlx

import (
	"bytes"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// text is the bytes of a file and their division into lines by YAML.
type text struct {
	data  []byte
	lines []int // offset of the first byte of each line, as YAML counts lines
	eol   string
}

// newText finds the lines. YAML ends a line at a carriage return, a line feed, or both, and at the three Unicode
// characters that YAML 1.1 counts as line breaks. A byte order mark does not count as a column.
func newText(data []byte) text {
	t := text{data: data, eol: "\n"}
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		t.eol = "\r\n"
	}
	at := 0
	if bytes.HasPrefix(data, bom) {
		at = len(bom)
	}
	t.lines = []int{at}
	for i := at; i < len(data); i++ {
		switch {
		case data[i] == '\n', data[i] == '\r' && (i+1 == len(data) || data[i+1] != '\n'):
			t.lines = append(t.lines, i+1)
		case bytes.HasPrefix(data[i:], []byte("\u0085")):
			t.lines = append(t.lines, i+2)
		case bytes.HasPrefix(data[i:], []byte("\u2028")), bytes.HasPrefix(data[i:], []byte("\u2029")):
			t.lines = append(t.lines, i+3)
		}
	}
	return t
}

// offset returns the byte that a node starts at.
func (t *text) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(t.lines) {
		return len(t.data)
	}
	at := t.lines[n.Line-1]
	for column := 1; column < n.Column && at < len(t.data); column++ {
		_, size := utf8.DecodeRune(t.data[at:])
		at += size
	}
	return at
}

// line returns the bytes of a line, counted from 1, without its end.
func (t *text) line(n int) []byte { return bytes.TrimRight(t.data[t.lines[n-1]:t.lineEnd(n)], "\r\n") }

// lineEnd returns the offset after a line and its end.
func (t *text) lineEnd(n int) int {
	if n < len(t.lines) {
		return t.lines[n]
	}
	return len(t.data)
}

// valueEnd returns the offset after a node on one line: a scalar, or a flow collection. flow is true inside a flow
// collection.
func (t *text) valueEnd(n *yaml.Node, flow bool) int {
	start := t.offset(n)
	if start >= len(t.data) {
		return len(t.data)
	}
	switch c := t.data[start]; {
	case n.Kind != yaml.ScalarNode:
		end, _ := scanFlow(t.data, start)
		return end
	case (c == '"' || c == '\'') && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return scanQuoted(t.data, start)
	default:
		return scanPlain(t.data, start, flow)
	}
}

// pairEnd returns the offset after a value in a flow mapping, or after its key if there is no value.
func (t *text) pairEnd(k, v *yaml.Node) int {
	if isNull(v) && v.Value == "" {
		return t.valueEnd(k, true)
	}
	return t.valueEnd(v, true)
}

// mappingEntry is a key and a value of a mapping.
type mappingEntry struct {
	parent   *yaml.Node
	index    int // of the key in parent.Content
	key, val *yaml.Node
	next     int // the first line after the entry: that of the next key, or of a parent's
}

// isReferenced reports whether a value has an anchor, an alias, or a tag.
func (e mappingEntry) isReferenced() bool {
	return e.val.Kind == yaml.AliasNode || e.val.Anchor != "" || e.val.Style&yaml.TaggedStyle != 0
}

// find follows a path of keys from the root. It returns the entries that exist, which may be fewer than the keys.
func (e *Editor) find(path []string) []mappingEntry {
	var found []mappingEntry
	n, next := e.root, e.endLine()
	for _, key := range path {
		at, ok := child(n, key, next)
		if !ok {
			break
		}
		found = append(found, at)
		n, next = at.val, at.next
	}
	return found
}

// child returns the entry of a key in a mapping that ends before line next.
func child(n *yaml.Node, key string, next int) (mappingEntry, bool) {
	if n == nil || n.Kind != yaml.MappingNode {
		return mappingEntry{}, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != key {
			continue
		}
		if i+2 < len(n.Content) {
			next = n.Content[i+2].Line
		}
		return mappingEntry{parent: n, index: i, key: n.Content[i], val: n.Content[i+1], next: next}, true
	}
	return mappingEntry{}, false
}

// endLine returns the first line after the document: that of its end marker, or the one after the last line.
func (e *Editor) endLine() int {
	first := 1
	if e.root != nil {
		first = e.root.Line
	}
	for n := first; n <= len(e.lines); n++ {
		if line := e.line(n); bytes.Equal(line, []byte("...")) || bytes.HasPrefix(line, []byte("... ")) {
			return n
		}
	}
	return len(e.lines) + 1
}

// lastLine returns the last line of an entry of a block mapping or list. Comments that are indented deeper than its key
// belong to it; other comments and blank lines after it do not. Blank lines after a multi-line text belong to it if
// they may be part of it.
func (e *Editor) lastLine(at mappingEntry) int {
	last := at.val
	for last != nil && len(last.Content) > 0 {
		last = last.Content[len(last.Content)-1]
	}
	isText := last != nil && last.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	n := at.next - 1
	for ; n > at.key.Line; n-- {
		line := e.line(n)
		trimmed := bytes.TrimLeft(line, " ")
		isDeeper := len(line)-len(trimmed) >= at.key.Column
		if len(trimmed) > 0 && trimmed[0] != '#' || isDeeper && (len(trimmed) > 0 || isText) {
			break
		}
	}
	return n
}

// afterColon returns the offset after the colon of an entry, or after its key if there is none.
func (e *Editor) afterColon(at mappingEntry, flow bool) int {
	end := e.valueEnd(at.key, flow)
	if i := bytes.IndexByte(e.data[end:], ':'); i >= 0 && len(bytes.TrimSpace(e.data[end:end+i])) == 0 {
		return end + i + 1
	}
	return end
}

// isJSON reports whether a flow mapping is written as JSON, with quoted keys.
func (e *Editor) isJSON(n *yaml.Node) bool {
	return isFlow(n) && len(n.Content) > 0 && n.Content[0].Style&yaml.DoubleQuotedStyle != 0
}

func isFlow(n *yaml.Node) bool { return n != nil && n.Style&yaml.FlowStyle != 0 }
