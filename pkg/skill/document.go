package skill

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Document is a parsed SKILL.md.
type Document struct {
	Source []byte // the whole file
	BOM    bool   // it starts with a UTF-8 byte order mark
	EOL    string // the ending of its first line: "\n" or "\r\n"

	// Front is the frontmatter's mapping, whose nodes have the lines and columns of the file; nil if it is missing or
	// unreadable. The text of the frontmatter is Source[FrontStart:FrontEnd], without the fences.
	Front      *yaml.Node
	FrontStart int
	FrontEnd   int
	FrontLine  int // the file's line of that text, 0 without frontmatter

	BodyStart int // offset of the body in Source
	BodyLine  int // the file's line of the body

	recovered map[*yaml.Node]bool
	lines     []int // offsets of the frontmatter's lines, computed on first use
}

// Body returns the Markdown after the frontmatter.
func (d *Document) Body() []byte { return d.Source[d.BodyStart:] }

// FrontText returns the text between the fences.
func (d *Document) FrontText() []byte { return d.Source[d.FrontStart:d.FrontEnd] }

// Lookup returns the key and value nodes of a frontmatter field, or nil. Of duplicate keys, the first counts.
func (d *Document) Lookup(key string) (k, v *yaml.Node) {
	for k, v := range yamlx.Pairs(d.Front) {
		if k.Value == key {
			return k, v
		}
	}
	return nil, nil
}

// Recovered reports whether the value v was read as plain text from a field that is not valid YAML. Such a value is a
// guess.
func (d *Document) Recovered(v *yaml.Node) bool { return d.recovered[v] }

// Text returns the text of a scalar field as written, without quotes; "" if it is missing, null, or not a scalar.
func (d *Document) Text(key string) string {
	_, v := d.Lookup(key)
	return ScalarText(v)
}

// ScalarText returns the text of a scalar node, following one alias; "" for nil, null, and other nodes.
func ScalarText(n *yaml.Node) string {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return ""
	}
	return n.Value
}

// Name returns the declared name, or "".
func (d *Document) Name() string { return d.Text("name") }

// Description returns the declared description without surrounding space, or "".
func (d *Document) Description() string { return strings.TrimSpace(d.Text("description")) }

// License returns the declared license, or "".
func (d *Document) License() string { return d.Text("license") }

// Compatibility returns the declared compatibility, or "".
func (d *Document) Compatibility() string { return d.Text("compatibility") }

// Command returns the command of an executable skill (dispatch protocol, type A), or "".
func (d *Document) Command() string { return d.Text("command") }

// FileRef is an entry of the frontmatter's `files` list.
type FileRef struct {
	Path        string
	Description string
}

// Files returns the entries of the `files` list that have a path. A string entry is a path.
func (d *Document) Files() []FileRef {
	_, v := d.Lookup("files")
	if v == nil || v.Kind != yaml.SequenceNode {
		return nil
	}
	var files []FileRef
	for _, item := range v.Content {
		ref := FileRef{Path: ScalarText(item)}
		if item.Kind == yaml.MappingNode {
			ref.Path = ScalarText(yamlx.Lookup(item, "path"))
			ref.Description = ScalarText(yamlx.Lookup(item, "description"))
		}
		if ref.Path != "" {
			files = append(files, ref)
		}
	}
	return files
}
