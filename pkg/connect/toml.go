package connect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// tomlFile is a TOML file in which a table can be added, changed, and removed.
type tomlFile struct {
	text
}

func newTOML(data []byte) (*tomlFile, error) {
	d := &tomlFile{newText(data)}
	_, err := d.values()
	return d, err
}

func (d *tomlFile) bytes() []byte     { return d.data }
func (d *tomlFile) splices() []splice { return d.log }
func (d *tomlFile) empty() bool       { return len(bytes.TrimSpace(bytes.TrimPrefix(d.data, bom))) == 0 }

// values returns the decoded file.
func (d *tomlFile) values() (map[string]any, error) {
	values := map[string]any{}
	err := toml.Unmarshal(bytes.TrimPrefix(d.data, bom), &values)
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, _ := at.Position()
		return nil, fmt.Errorf("line %d: %s", row, strings.TrimPrefix(at.Error(), "toml: "))
	}
	return values, err
}

// expression is a table's header, or a key with its value, on one or more lines.
type expression struct {
	path   []string // of the table or, relative to the table above it, of the key
	header bool
	start  int // of its line
	at     int // of its first key
}

// expressions lists what is in the file, in order.
func (d *tomlFile) expressions() []expression {
	var all []expression
	var p unstable.Parser
	head := len(d.data) - len(bytes.TrimPrefix(d.data, bom))
	p.Reset(d.data[head:])
	for p.NextExpression() {
		node := p.Expression()
		if node.Kind != unstable.Table && node.Kind != unstable.ArrayTable && node.Kind != unstable.KeyValue {
			continue
		}
		e := expression{header: node.Kind != unstable.KeyValue, at: -1}
		for it := node.Key(); it.Next(); {
			key := it.Node()
			if e.at < 0 {
				e.at = head + int(key.Raw.Offset)
			}
			e.path = append(e.path, string(key.Data))
		}
		e.start = d.lineStart(e.at)
		all = append(all, e)
	}
	return all
}

// texts returns a path of keys.
func texts(path []any) []string {
	names := make([]string, len(path))
	for i, key := range path {
		names[i], _ = key.(string)
	}
	return names
}

// errNotEditable is the error for a table that cannot be edited automatically.
func errNotEditable(path []string) error {
	return fmt.Errorf("the format of %s is not supported", strings.Join(path, "."))
}

// set writes a table at the end of the file, or a field of a table that has a header.
func (d *tomlFile) set(value any, path ...any) error {
	names := texts(path)
	if table, ok := value.(object); ok {
		return d.add(table, names)
	}
	last := len(names) - 1
	return d.field(member{names[last], value}, names[:last])
}

// add writes a table at the end.
func (d *tomlFile) add(value object, path []string) error {
	var b strings.Builder
	names := slices.Clone(path)
	for i, key := range names {
		names[i] = bareKey(key)
	}
	b.WriteString("[" + strings.Join(names, ".") + "]" + d.eol)
	for _, m := range value {
		b.WriteString(bareKey(m.key) + " = " + renderTOML(m.value) + d.eol)
	}
	block := b.String()
	switch content := bytes.TrimPrefix(d.data, bom); {
	case len(content) == 0:
	case content[len(content)-1] == '\n':
		block = d.eol + block
	default: // a file without a final newline stays without one
		block = d.eol + d.eol + strings.TrimSuffix(block, d.eol)
	}
	d.replace(len(d.data), len(d.data), block)
	return nil
}

// field sets one field of a table that has a header.
func (d *tomlFile) field(m member, path []string) error {
	all := d.expressions()
	i := slices.IndexFunc(all, func(e expression) bool { return e.header && slices.Equal(e.path, path) })
	if i < 0 {
		return errNotEditable(path)
	}
	at := d.lineEnd(all[i].at)
	for _, e := range all[i+1:] {
		if e.header {
			break
		}
		if len(e.path) == 1 && e.path[0] == m.key {
			start, end := d.valueOf(e.at)
			d.replace(start, end, renderTOML(m.value))
			return nil
		}
		_, end := d.valueOf(e.at)
		at = d.lineEnd(end)
	}
	line := d.lineIndent(all[i].at) + bareKey(m.key) + " = " + renderTOML(m.value)
	if at > 0 && d.data[at-1] != '\n' {
		d.replace(at, at, d.eol+line)
	} else {
		d.replace(at, at, line+d.eol)
	}
	return nil
}

// prune removes a table with its subtables and the empty line that install put before it.
func (d *tomlFile) prune(path ...any) error {
	values, err := d.values()
	if err != nil {
		return err
	}
	if _, ok := lookup(values, path...); !ok {
		return nil
	}
	names := texts(path)
	below := func(e expression) bool {
		return e.header && len(e.path) >= len(names) && slices.Equal(e.path[:len(names)], names)
	}
	all := d.expressions()
	if !slices.ContainsFunc(all, below) {
		return errNotEditable(names)
	}
	for i, e := range slices.Backward(all) {
		if !below(e) {
			continue
		}
		last := i
		for last+1 < len(all) && !all[last+1].header {
			last++
		}
		end := d.lineEnd(e.at)
		if last > i {
			_, value := d.valueOf(all[last].at)
			end = d.lineEnd(value)
		}
		d.cut(e.start, end)
	}
	return nil
}

// cut removes lines and one empty line before them. If the last line had no newline, the new last line has none.
func (d *tomlFile) cut(start, end int) {
	if start > 0 {
		if line := d.lineStart(start - 1); len(bytes.TrimSpace(d.data[line:start])) == 0 {
			start = line
		}
	}
	if start > 0 && d.data[end-1] != '\n' {
		start--
		if start > 0 && d.data[start-1] == '\r' {
			start--
		}
	}
	if start == 0 && end < len(d.data) { // the file does not begin with an empty line either
		if next := d.lineEnd(end); len(bytes.TrimSpace(d.data[end:next])) == 0 {
			end = next
		}
	}
	d.replace(start, end, "")
}

// lineEnd returns the start of the line after an offset.
func (d *tomlFile) lineEnd(at int) int {
	if i := bytes.IndexByte(d.data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.data)
}

// valueOf returns the range of the value of the key at an offset.
func (d *tomlFile) valueOf(key int) (start, end int) {
	at := key
	for d.data[at] != '=' {
		at = d.skip(at)
	}
	at++
	for d.data[at] == ' ' || d.data[at] == '\t' {
		at++
	}
	start = at
	depth := 0
	for at < len(d.data) {
		switch c := d.data[at]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case depth == 0 && (c == '\n' || c == '#'):
			return start, start + len(bytes.TrimRight(d.data[start:at], " \t\r"))
		}
		at = d.skip(at)
	}
	return start, start + len(bytes.TrimRight(d.data[start:at], " \t\r"))
}

// skip returns the offset after a string, a comment in a value, or one character.
func (d *tomlFile) skip(at int) int {
	rest := d.data[at:]
	for _, q := range []string{`"""`, `'''`, `"`, `'`} {
		if !bytes.HasPrefix(rest, []byte(q)) {
			continue
		}
		i := len(q)
		for i < len(rest) && !bytes.HasPrefix(rest[i:], []byte(q)) {
			if rest[i] == '\\' && q[0] == '"' {
				i++
			}
			i++
		}
		i += len(q)
		for len(q) == 3 && i < len(rest) && rest[i] == q[0] { // quotes that belong to the text
			i++
		}
		return at + min(i, len(rest))
	}
	if rest[0] == '#' {
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			return at + i
		}
		return len(d.data)
	}
	return at + 1
}

func bareKey(key string) string {
	for _, r := range key {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return jsonx.Quote(key)
		}
	}
	return key
}

func renderTOML(value any) string {
	text := func(s string) string { return strings.ReplaceAll(jsonx.Quote(s), "\x7f", `\u007f`) }
	switch v := value.(type) {
	case string:
		return text(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		texts := make([]string, len(v))
		for i, s := range v {
			texts[i] = text(s)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	default: // entries have no other type
		return `""`
	}
}
