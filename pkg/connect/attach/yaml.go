package attach

import (
	"bytes"
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlFile is a YAML file, in which an entry of a mapping at the top can be added, changed and removed.
type yamlFile struct {
	text
	root *yaml.Node // the mapping, nil for none
}

func newYAML(data []byte) (*yamlFile, error) {
	d := &yamlFile{text: newText(data)}
	return d, d.parse()
}

func (d *yamlFile) bytes() []byte     { return d.data }
func (d *yamlFile) splices() []splice { return d.log }
func (d *yamlFile) empty() bool       { return len(bytes.TrimSpace(bytes.TrimPrefix(d.data, bom))) == 0 }

func (d *yamlFile) parse() error {
	var doc yaml.Node
	d.root = nil
	dec := yaml.NewDecoder(bytes.NewReader(d.data))
	if err := dec.Decode(&doc); err != nil {
		if d.empty() || len(bytes.TrimSpace(d.data)) > 0 && err.Error() == "EOF" { // nothing but comments
			return nil
		}
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := dec.Decode(new(yaml.Node)); err == nil {
		return errors.New("it has more than one document")
	}
	switch root := doc.Content[0]; {
	case root.Kind == yaml.MappingNode:
		d.root = root
	case root.Tag != "!!null":
		return errors.New("line 1: this is no mapping")
	}
	_, err := d.values()
	return err
}

// values returns what the file says. A key that is there twice is an error of the decoder's.
func (d *yamlFile) values() (map[string]any, error) {
	values := map[string]any{}
	if d.root == nil {
		return values, nil
	}
	if err := d.root.Decode(&values); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return values, nil
}

// pair is a key of a mapping, and what it has.
type pair struct {
	key, value *yaml.Node
	end        int // the line after its last
}

// child finds a key in a block mapping that ends before a line.
func child(m *yaml.Node, key string, end int) (pair, bool) {
	if m == nil || m.Kind != yaml.MappingNode {
		return pair{}, false
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		p := pair{m.Content[i], m.Content[i+1], end}
		if i+2 < len(m.Content) {
			p.end = m.Content[i+2].Line
		}
		if p.key.Value == key {
			return p, true
		}
	}
	return pair{}, false
}

func isBlock(n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0
}

// lines is one more than how many the file has.
func (d *yamlFile) lines() int {
	n := bytes.Count(d.data, []byte("\n")) + 1
	if len(d.data) > 0 && d.data[len(d.data)-1] != '\n' {
		n++
	}
	return n
}

// at returns the offset of a line.
func (d *yamlFile) at(line int) int {
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(d.data[at:], '\n')
		if i < 0 {
			return len(d.data)
		}
		at += i + 1
	}
	return at
}

// lastLine returns the line after the last one of a pair that says something: neither empty nor a comment.
func (d *yamlFile) after(p pair) int {
	line := p.end
	for line > p.key.Line+1 {
		text := bytes.TrimSpace(d.data[d.at(line-1):d.at(line)])
		if len(text) > 0 && text[0] != '#' && !bytes.Equal(text, []byte("...")) {
			break
		}
		line--
	}
	return line
}

// set gives an entry of a mapping at the top its fields.
func (d *yamlFile) set(value object, path ...string) error {
	if d.root != nil && !isBlock(d.root) {
		return errByHand(path)
	}
	top, ok := child(d.root, path[0], d.lines())
	switch {
	case !ok:
		end := d.lines()
		if d.root != nil {
			last := pair{d.root.Content[len(d.root.Content)-2], d.root.Content[len(d.root.Content)-1], end}
			end = d.after(last)
		}
		return d.insert(end, d.block(path[0], object{{path[1], value}}, 0))
	case top.value.Tag == "!!null" && top.value.Value == "":
		return d.insert(top.key.Line+1, d.block(path[1], value, top.key.Column+1))
	case top.value.Kind == yaml.MappingNode && len(top.value.Content) == 0:
		return d.fill(top, d.block(path[1], value, top.key.Column+1))
	case !isBlock(top.value):
		return errByHand(path)
	}
	entry, ok := child(top.value, path[1], top.end)
	if !ok {
		return d.insert(d.after(top), d.block(path[1], value, top.value.Column-1))
	}
	if !isBlock(entry.value) {
		return errByHand(path)
	}
	return d.fields(value, path, entry)
}

// fields changes those fields of an entry that differ.
func (d *yamlFile) fields(value object, path []string, entry pair) error {
	for _, m := range value {
		values, err := d.values()
		if err != nil {
			return err
		}
		if old, ok := lookup(values, append(keys(path...), m.key)...); ok && same(old, m.value) {
			continue
		}
		top, _ := child(d.root, path[0], d.lines())
		entry, _ = child(top.value, path[1], top.end)
		block := d.block(m.key, m.value, entry.value.Column-1)
		field, ok := child(entry.value, m.key, d.after(entry))
		if !ok {
			err = d.insert(d.after(entry), block)
		} else {
			start, end := d.at(field.key.Line), d.at(d.after(field))
			if d.data[end-1] != '\n' {
				block = strings.TrimSuffix(block, d.eol)
			}
			d.replace(start, end, block)
			err = d.parse()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill puts the first entry into a mapping that is written as {}.
func (d *yamlFile) fill(p pair, block string) error {
	line := d.data[d.at(p.value.Line):]
	start := d.at(p.value.Line) + p.value.Column - 1
	end := bytes.IndexByte(d.data[start:], '}')
	if p.value.Line != p.key.Line || end < 0 || !bytes.HasPrefix(d.data[start:], []byte("{")) || bytes.Contains(line[:p.value.Column-1], []byte("\"")) {
		return errByHand([]string{p.key.Value})
	}
	if err := d.insert(p.key.Line+1, block); err != nil && d.root == nil {
		return err
	}
	from := start
	for d.data[from-1] == ' ' {
		from--
	}
	d.replace(from, start+end+1, "")
	return d.parse()
}

// insert writes lines before a line. A file without a last line end is left without one.
func (d *yamlFile) insert(line int, block string) error {
	at := d.at(line)
	if at == len(d.data) && at > 0 && d.data[at-1] != '\n' {
		block = d.eol + strings.TrimSuffix(block, d.eol)
	}
	d.replace(at, at, block)
	return d.parse()
}

// remove takes an entry out, and the mapping that it was the last of.
func (d *yamlFile) remove(path ...string) error {
	top, ok := child(d.root, path[0], d.lines())
	if !ok {
		return nil
	}
	entry, ok := child(top.value, path[1], top.end)
	if !ok {
		return nil
	}
	if !isBlock(d.root) || !isBlock(top.value) {
		return errByHand(path)
	}
	start, end := d.at(entry.key.Line), d.at(d.after(entry))
	if len(top.value.Content) == 2 {
		start = d.at(top.key.Line)
	}
	if end == len(d.data) && start > 0 && d.data[end-1] != '\n' {
		start--
		if start > 0 && d.data[start-1] == '\r' {
			start--
		}
	}
	d.replace(start, end, "")
	return d.parse()
}

// block writes a key with its value on lines of their own.
func (d *yamlFile) block(key string, value any, indent int) string {
	pad := strings.Repeat(" ", indent)
	o, ok := value.(object)
	if !ok {
		return pad + key + ": " + renderYAML(value) + d.eol
	}
	var b strings.Builder
	b.WriteString(pad + key + ":" + d.eol)
	for _, m := range o {
		b.WriteString(d.block(m.key, m.value, indent+2))
	}
	return b.String()
}

func renderYAML(value any) string {
	return render(value, func(s string) string {
		if shellSafe(s) && !strings.ContainsAny(s[:1], "-%@0123456789.") && !strings.HasSuffix(s, ":") {
			return s
		}
		return quote(s)
	}, quote)
}
