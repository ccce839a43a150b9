package pack

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is what an edit writes: a text, a list, or a mapping of fields.
type value struct {
	text   string
	items  []string
	fields []field
}

// render returns the value as YAML on one line, its texts in double quotes; as JSON if that is what the file is.
func (v value) render(json bool) string {
	switch {
	case v.fields != nil:
		parts := make([]string, len(v.fields))
		for i, f := range v.fields {
			parts[i] = renderKey(f.key, json) + ": " + value{text: f.text, items: f.items}.render(json)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case v.items != nil:
		parts := make([]string, len(v.items))
		for i, s := range v.items {
			if parts[i] = plainKey(s); json {
				parts[i] = quote(s)
			}
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		return quote(v.text)
	}
}

func renderKey(key string, json bool) string {
	if json {
		return quote(key)
	}
	return plainKey(key)
}

// set gives the entry at path a value: in its place if it exists, else as the last one of its mapping, which is made if
// it does not exist either.
func (d *document) set(v value, path ...string) error {
	found := d.find(path...)
	if len(found) == len(path) {
		return d.replace(found[len(found)-1], v)
	}
	missing := path[len(found):]
	if len(found) == 0 {
		return d.insertRoot(missing, v)
	}
	e := found[len(found)-1]
	switch {
	case isFlow(e.val) && (len(e.val.Content) > 0 || isFlow(e.parent)):
		return d.insertFlow(e.val, missing, v)
	case isFlow(e.val), isNull(e.val):
		return d.insertEmpty(e, missing, v)
	case e.val.Kind != yaml.MappingNode:
		return d.refuse(e.val, "write "+e.key.Value+" as a mapping")
	default:
		return d.insertBlock(e.val, e.next, missing, v)
	}
}

// replace changes a value in place: what is written on one line between its two ends, and not the comment after it.
func (d *document) replace(e entry, v value) error {
	flow := isFlow(e.parent)
	text := v.render(d.json(e.parent))
	switch {
	case isNull(e.val) && e.val.Value == "":
		at := d.afterColon(e, flow)
		return d.splice(at, at, " "+text)
	case v.items != nil && e.val.Kind == yaml.SequenceNode && !isFlow(e.val):
		return d.replaceItems(e, v.items)
	case e.val.Kind != yaml.ScalarNode && !isFlow(e.val):
		return d.refuse(e.val, "write it on one line, as "+e.key.Value+": "+text)
	}
	start, end := d.offset(e.val), d.valueEnd(e.val, flow)
	if e.val.Kind == yaml.ScalarNode && e.val.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 &&
		string(d.data[start:end]) != e.val.Value {
		return d.refuse(e.val, "write it on one line, as "+e.key.Value+": "+text)
	}
	if v.fields == nil && v.items == nil && d.data[start] == '\'' && !strings.ContainsAny(v.text, "'\\\n") {
		text = "'" + v.text + "'"
	}
	return d.splice(start, end, text)
}

// afterColon returns the offset after the colon of an entry without a value, or after its key if it has none.
func (d *document) afterColon(e entry, flow bool) int {
	at := d.valueEnd(e.key, flow)
	if i := bytes.IndexByte(d.data[at:], ':'); i >= 0 && len(bytes.TrimSpace(d.data[at:at+i])) == 0 {
		return at + i + 1
	}
	return at
}

// json reports whether a flow mapping is written as JSON, with its keys in quotes.
func (d *document) json(n *yaml.Node) bool {
	return isFlow(n) && len(n.Content) > 0 && n.Content[0].Style&yaml.DoubleQuotedStyle != 0
}

// insertRoot adds a key at the end of the file, or of the flow mapping that the file is.
func (d *document) insertRoot(keys []string, v value) error {
	switch {
	case d.root == nil:
		return d.insertLines(d.endLine(), 0, keys, v)
	case isFlow(d.root):
		return d.insertFlow(d.root, keys, v)
	default:
		return d.insertBlock(d.root, d.endLine(), keys, v)
	}
}

// insertFlow adds an entry after the last one of a flow mapping: on a line of its own if that one is.
func (d *document) insertFlow(n *yaml.Node, keys []string, v value) error {
	text := nest(keys, v, d.json(n) || d.json(d.root))
	end, last := scanFlow(d.data, d.offset(n))
	if len(n.Content) == 0 {
		return d.splice(last, last, text)
	}
	comma := ","
	if d.data[last-1] == ',' {
		comma = ""
	}
	k := n.Content[len(n.Content)-2]
	indent := d.data[d.lines[k.Line-1]:d.offset(k)]
	eol := bytes.IndexByte(d.data[last:end], '\n')
	if len(bytes.TrimLeft(indent, " ")) > 0 || eol < 0 {
		return d.splice(last, last, comma+" "+text)
	}
	text = string(indent) + text + d.eol
	if comma == "" {
		text = string(indent) + strings.TrimSpace(text) + "," + d.eol
	}
	eol += last + 1
	return d.splice(last, eol, comma+string(d.data[last:eol])+text)
}

// nest renders a value below keys, each in the mapping of the one before it.
func nest(keys []string, v value, json bool) string {
	text := v.render(json)
	for i, key := range slices.Backward(keys) {
		text = renderKey(key, json) + ": " + text
		if i > 0 {
			text = "{" + text + "}"
		}
	}
	return text
}

// insertBlock adds an entry after the last one of a block mapping that ends before the line next.
func (d *document) insertBlock(n *yaml.Node, next int, keys []string, v value) error {
	k := n.Content[len(n.Content)-2]
	last := d.lastLine(entry{key: k, next: next})
	// Comments that follow without a gap, at the entries' own indentation, are about this mapping.
	for n.Column > 1 && last+1 < next {
		text := d.line(last + 1)
		if trimmed := bytes.TrimLeft(text, " "); len(trimmed) == 0 || trimmed[0] != '#' || len(text)-len(trimmed)+1 != k.Column {
			break
		}
		last++
	}
	return d.insertLines(last+1, k.Column-1, keys, v)
}

// insertEmpty adds the first entry of a mapping that is empty: after `key:`, or in the place of `key: {}`.
func (d *document) insertEmpty(e entry, keys []string, v value) error {
	if isFlow(e.parent) {
		at := d.afterColon(e, true)
		return d.splice(at, at, " {"+nest(keys, v, d.json(e.parent))+"}")
	}
	line, indent := e.key.Line, e.key.Column+1
	if start := d.offset(e.val); isFlow(e.val) {
		end := d.valueEnd(e.val, false)
		for start > 0 && d.data[start-1] == ' ' {
			start--
		}
		if err := d.splice(start, end, ""); err != nil {
			return err
		}
	} else if e.val.Value != "" {
		return d.refuse(e.val, "write "+e.key.Value+": without a value")
	}
	return d.insertLines(line+1, indent, keys, v)
}

// insertLines writes keys, each below the one before it, and the value at the start of a line.
func (d *document) insertLines(line, indent int, keys []string, v value) error {
	at := len(d.data)
	if line <= len(d.lines) {
		at = d.lines[line-1]
	}
	var b strings.Builder
	if at > 0 && d.data[at-1] != '\n' && !(at == len(bom) && bytes.HasPrefix(d.data, bom)) {
		b.WriteString(d.eol)
	}
	for i, key := range keys {
		b.WriteString(strings.Repeat(" ", indent+2*i) + plainKey(key) + ":")
		if i == len(keys)-1 {
			b.WriteString(" " + v.render(false))
		}
		b.WriteString(d.eol)
	}
	return d.splice(at, at, b.String())
}

// replaceItems makes a list of a line each hold the items wanted: those that are there keep their lines and order, new
// ones follow.
func (d *document) replaceItems(e entry, want []string) error {
	var lines []string
	list := e.val
	last := entry{key: list.Content[len(list.Content)-1], next: e.next}
	indent := len(d.line(last.key.Line)) - len(bytes.TrimLeft(d.line(last.key.Line), " "))
	for _, item := range want {
		if !hasItem(list, item) {
			lines = append(lines, strings.Repeat(" ", indent)+"- "+plainKey(item)+d.eol)
		}
	}
	at, text := d.lineEnd(d.lastLine(last)), strings.Join(lines, "")
	if text != "" && at > 0 && d.data[at-1] != '\n' {
		text = d.eol + text
	}
	out := d.data[:at:at]
	out = append(append(out, text...), d.data[at:]...)
	for _, v := range slices.Backward(list.Content) {
		if item := v; !slices.Contains(want, item.Value) {
			start, end := d.lines[item.Line-1], d.lineEnd(item.Line)
			out = append(out[:start:start], out[end:]...)
		}
	}
	return d.load(out)
}

func hasItem(list *yaml.Node, item string) bool {
	for _, n := range list.Content {
		if n.Value == item {
			return true
		}
	}
	return false
}
