package skill

import (
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// SpliceName returns the SKILL.md with its declared name replaced. All bytes outside the name's scalar stay, including
// its quotes and comment. If the name is missing, it becomes the first field; if the frontmatter is missing, it is
// added. The error has the code Invalid and explains why the frontmatter cannot hold a name.
func SpliceName(data []byte, name string) ([]byte, error) {
	doc, _ := Parse(data)
	if doc.FrontLine == 0 {
		head := "---" + doc.EOL + "name: " + yamlx.Scalar(name) + doc.EOL + "---" + doc.EOL
		return splice(data, doc.BodyStart, doc.BodyStart, head), nil
	}
	if doc.Front == nil {
		return nil, diag.Errorf(diag.Invalid, "cannot set the name: the frontmatter is not a mapping of fields")
	}
	out := doc.spliceName(name)
	if check, _ := Parse(out); check.Name() != name {
		return nil, diag.Errorf(diag.Invalid,
			"cannot replace the name on line %d: its YAML format is not supported", doc.nameLine()).
			WithHint("write the name on one line: name: %s", yamlx.Scalar(doc.Name()))
	}
	return out, nil
}

func (d *Document) nameLine() int {
	if _, v := d.Lookup("name"); v != nil {
		return v.Line
	}
	return d.FrontLine
}

func (d *Document) spliceName(name string) []byte {
	k, v := d.Lookup("name")
	if v == nil {
		offset, field := d.FrontStart, "name: "+yamlx.Scalar(name)+d.EOL
		if d.Front.Style&yaml.FlowStyle != 0 {
			offset, field = d.offset(d.Front.Line, d.Front.Column)+1, "name: "+yamlx.Scalar(name)+", "
		}
		return splice(d.Source, offset, offset, field)
	}
	start := d.offset(v.Line, v.Column)
	end, quote, ok := yamlx.ScalarEnd(d.Source[:d.FrontEnd], start, v)
	if !ok || d.Recovered(v) {
		start, end = d.offset(k.Line, k.Column)+len(k.Value)+1, d.fieldEnd(k)
		return splice(d.Source, start, end, " "+yamlx.Scalar(name))
	}
	if start == end { // name: has no value
		return splice(d.Source, start, end, " "+yamlx.Scalar(name))
	}
	text := yamlx.Scalar(name)
	if quote != 0 && text == name && LegalName(name) {
		text = string(quote) + name + string(quote)
	}
	return splice(d.Source, start, end, text)
}

// fieldEnd returns the offset of the line ending before the next field, or before the closing fence.
func (d *Document) fieldEnd(k *yaml.Node) int {
	end := d.FrontEnd
	for i := 0; i+1 < len(d.Front.Content); i += 2 { // fields are sorted by line
		if next := d.Front.Content[i]; next.Line > k.Line {
			end = d.offset(next.Line, 1)
			break
		}
	}
	for end > 0 && (d.Source[end-1] == '\n' || d.Source[end-1] == '\r') {
		end--
	}
	return end
}

// offset returns the byte offset of a line and column of the file.
func (d *Document) offset(line, column int) int {
	if d.lines == nil {
		for offset := d.FrontStart; offset < d.FrontEnd; {
			d.lines = append(d.lines, offset)
			_, offset = cutLine(d.Source, offset)
		}
	}
	offset := d.FrontEnd
	if n := line - d.FrontLine; n < 0 {
		offset = d.FrontStart
	} else if n < len(d.lines) {
		offset = d.lines[n]
	}
	for ; column > 1 && offset < len(d.Source); column-- {
		_, n := utf8.DecodeRune(d.Source[offset:])
		offset += n
	}
	return offset
}

func splice(data []byte, start, end int, text string) []byte {
	return slices.Concat(data[:start], []byte(text), data[end:])
}
