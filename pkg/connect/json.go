package connect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
)

// jsonFile is a JSON file, with or without comments and trailing commas.
type jsonFile struct {
	text
	head int // bytes of the byte order mark
	root hujson.Value
}

// newJSON reads a JSON file; one without any content is an empty object.
func newJSON(data []byte) (*jsonFile, error) {
	d := &jsonFile{text: newText(data)}
	if bytes.HasPrefix(data, bom) {
		d.head = len(bom)
	}
	if len(bytes.TrimSpace(data[d.head:])) == 0 {
		tail := ""
		if len(data) == 0 {
			tail = d.eol
		}
		d.replace(d.head, d.head, "{}"+tail)
	}
	if err := d.parse(); err != nil {
		return nil, err
	}
	if _, ok := d.root.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("line 1: expected an object")
	}
	_, err := d.values()
	return d, err
}

func (d *jsonFile) parse() (err error) {
	if line := tooDeep(d.data); line > 0 {
		return fmt.Errorf("line %d is nested more than %d levels deep", line, maxDepth)
	}
	d.root, err = hujson.Parse(d.data[d.head:])
	if err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return nil
}

// tooDeep returns the line on which objects and arrays are nested deeper than maxDepth, or 0. The parser does not limit
// the depth, and takes seconds for a file of a few hundred kilobytes.
func tooDeep(data []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case bytes.HasPrefix(data[i:], []byte("//")):
			i = endOf(data, i, "\n")
		case bytes.HasPrefix(data[i:], []byte("/*")):
			i = endOf(data, i+2, "*/") + 1
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth > maxDepth {
			return 1 + bytes.Count(data[:i], []byte("\n"))
		}
	}
	return 0
}

// endOf returns the index of a text in data from start, or the length of data.
func endOf(data []byte, start int, text string) int {
	if i := bytes.Index(data[start:], []byte(text)); i >= 0 {
		return start + i
	}
	return len(data)
}

func name(m *hujson.ObjectMember) string {
	literal, _ := m.Name.Value.(hujson.Literal)
	return literal.String()
}

// maxDepth is the maximum nesting of objects and arrays.
const maxDepth = 1000

// values returns the decoded file. A duplicate key is an error, because parsers differ in which of them they use.
func (d *jsonFile) values() (map[string]any, error) {
	root := d.root.Clone()
	root.Standardize()
	values := map[string]any{}
	err := jsonx.Decode(root.Pack(), &values, jsonx.Options{ExactKeys: true, MaxDepth: maxDepth})
	if bad, ok := errors.AsType[*jsonx.Error](err); ok && bad.Kind == jsonx.DuplicateKey {
		return nil, fmt.Errorf("line %d: the key %q is duplicated", bad.Line, bad.Key)
	}
	return values, err
}

func (d *jsonFile) bytes() []byte     { return d.data }
func (d *jsonFile) splices() []splice { return d.log }

// part is one member of an object or element of an array.
type part struct {
	first *hujson.Value // the name of a member, or the value of an element
	value *hujson.Value
}

// parts returns the members of an object or the elements of an array, and what follows the last one.
func parts(v *hujson.Value) (all []part, tail hujson.Extra, ok bool) {
	switch at := v.Value.(type) {
	case *hujson.Object:
		for i := range at.Members {
			all = append(all, part{&at.Members[i].Name, &at.Members[i].Value})
		}
		return all, at.AfterExtra, true
	case *hujson.Array:
		for i := range at.Elements {
			all = append(all, part{&at.Elements[i], &at.Elements[i]})
		}
		return all, at.AfterExtra, true
	default:
		return nil, nil, false
	}
}

// step returns the index of a key or index among the parts of a value, or -1.
func step(v *hujson.Value, key any) int {
	switch key := key.(type) {
	case string:
		if o, ok := v.Value.(*hujson.Object); ok {
			for i := range o.Members {
				if name(&o.Members[i]) == key {
					return i
				}
			}
		}
	case int:
		if a, ok := v.Value.(*hujson.Array); ok && key < len(a.Elements) {
			return key
		}
	}
	return -1
}

// valueAt returns the value at a path, nil if there is none.
func (d *jsonFile) valueAt(path []any) *hujson.Value {
	v := &d.root
	for _, key := range path {
		n := step(v, key)
		if n < 0 {
			return nil
		}
		all, _, _ := parts(v)
		v = all[n].value
	}
	return v
}

// set assigns a value to a path. Missing objects are appended to their parents.
func (d *jsonFile) set(value any, path ...any) error {
	v := &d.root
	for i, key := range path {
		all, _, ok := parts(v)
		_, object := v.Value.(*hujson.Object)
		if _, key := key.(string); !ok || key != object {
			return fmt.Errorf("%s has an unexpected value", pathText(path[:i]))
		}
		n := step(v, key)
		if n < 0 {
			d.insert(v, key, nest(path[i+1:], value))
			return d.parse()
		}
		v = all[n].value
	}
	start, end := d.head+v.StartOffset, d.head+v.EndOffset
	d.replace(start, end, d.render(value, d.lineIndent(start), d.multi(&d.root)))
	return d.parse()
}

// nest wraps a value in an object for each key of a path.
func nest(path []any, value any) any {
	for _, key := range slices.Backward(path) {
		if key, ok := key.(string); ok {
			value = object{{key, value}}
		} else {
			value = []any{value}
		}
	}
	return value
}

// pathText formats a path for an error.
func pathText(path []any) string {
	if len(path) == 0 {
		return "the file"
	}
	texts := make([]string, len(path))
	for i, key := range path {
		texts[i] = fmt.Sprint(key)
	}
	return strings.Join(texts, ".")
}

// insert appends a part to an object or array.
func (d *jsonFile) insert(v *hujson.Value, key, value any) {
	all, tail, _ := parts(v)
	multi := d.multi(v)
	end := d.head + v.EndOffset - 1 // of the closing bracket
	outer := d.lineIndent(d.head + v.StartOffset)
	indent := outer + d.unit()
	if len(all) > 0 && multi {
		if own, ok := lineOf(all[len(all)-1].first.BeforeExtra); ok {
			indent = own
		}
	}
	body := d.render(value, indent, multi)
	if key, ok := key.(string); ok {
		body = jsonx.Quote(key) + d.colon() + body
	}
	retained := end - len(tail) + len(bytes.TrimRight(tail, " \t\r\n"))
	trailing := len(all) > 0 && all[len(all)-1].value.AfterExtra != nil
	gap := ""
	switch {
	case multi || retained > end-len(tail):
		gap = d.eol + indent
	case len(all) > 0:
		gap = d.space()
	}
	after := ""
	if trailing {
		after = ","
	}
	if len(all) == 0 && multi && !bytes.Contains(d.data[retained:end], []byte("\n")) {
		after = d.eol + outer
	}
	d.replace(retained, retained, gap+body+after)
	if len(all) > 0 && !trailing {
		last := d.head + all[len(all)-1].value.EndOffset
		d.replace(last, last, ",")
	}
}

// remove deletes the value at a path, if it exists.
func (d *jsonFile) remove(path ...any) error {
	last := len(path) - 1
	v := d.valueAt(path[:last])
	n := -1
	if v != nil {
		n = step(v, path[last])
	}
	if n < 0 {
		return nil
	}
	all, _, _ := parts(v)
	p := all[n]
	first, end := d.head+p.first.StartOffset, d.head+p.value.EndOffset
	before := p.first.BeforeExtra
	above := bytes.TrimRight(before, " \t\r\n")
	start := first - len(before) + len(above)
	comma := end + len(p.value.AfterExtra)
	follows := n < len(all)-1 || p.value.AfterExtra != nil
	if follows {
		d.replace(comma, comma+1, "")
	}
	d.replace(start, end, d.retained(above, end))
	switch {
	case n > 0 && !follows:
		prior := all[n-1].value
		comma = d.head + prior.EndOffset + len(prior.AfterExtra)
		d.replace(comma, comma+1, "")
	case len(all) == 1:
		d.collapse(d.head + v.StartOffset)
	}
	return d.parse()
}

// retained returns the line end that has to stay before an offset, because it ends a comment.
func (d *jsonFile) retained(above []byte, last int) string {
	if lineComment(above) && !bytes.HasPrefix(bytes.TrimLeft(d.data[last:], " \t\r"), []byte("\n")) {
		return d.eol
	}
	return ""
}

// lineComment reports whether white space and comments end with a line comment.
func lineComment(extra []byte) bool {
	for len(extra) > 0 {
		stop := "\n"
		switch {
		case bytes.HasPrefix(extra, []byte("/*")):
			stop = "*/"
		case !bytes.HasPrefix(extra, []byte("//")):
			extra = extra[1:]
			continue
		}
		_, rest, ended := bytes.Cut(extra[2:], []byte(stop))
		if !ended {
			return stop == "\n"
		}
		extra = rest
	}
	return false
}

// collapse removes the white space in an object or array that is now empty.
func (d *jsonFile) collapse(start int) {
	rest := d.data[start+1:]
	space := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
	if space < len(rest) && (rest[space] == '}' || rest[space] == ']') {
		d.replace(start+1, start+1+space, "")
	}
}

// prune deletes the value at a path, and then its parents as long as they are empty and have no comment.
func (d *jsonFile) prune(path ...any) error {
	if err := d.remove(path...); err != nil {
		return err
	}
	for n := len(path) - 1; n > 0; n-- {
		v := d.valueAt(path[:n])
		if v == nil {
			return nil
		}
		if all, tail, ok := parts(v); !ok || len(all) > 0 || len(bytes.TrimSpace(tail)) > 0 {
			return nil
		}
		if err := d.remove(path[:n]...); err != nil {
			return err
		}
	}
	return nil
}

// empty reports whether the file has no values and no comments.
func (d *jsonFile) empty() bool {
	rest := bytes.TrimSpace(d.data[d.head:])
	return string(rest) == "{}"
}
