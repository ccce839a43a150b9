package skill

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Document is a parsed SKILL.md.
type Document struct {
	Source []byte // the whole file as it was given
	BOM    bool   // it starts with a UTF-8 byte order mark
	EOL    string // how its first line ends: "\n" or "\r\n"

	// Front is the frontmatter's mapping, its nodes placed by line and column of the file; nil where there is none
	// that could be read at all. The text of the frontmatter is Source[FrontStart:FrontEnd], without the fences.
	Front      *yaml.Node
	FrontStart int
	FrontEnd   int
	FrontLine  int // the line of the file on which that text starts, 0 without frontmatter

	BodyStart int // the byte of Source at which the body starts
	BodyLine  int // the line of the file at which the body starts

	recovered map[*yaml.Node]bool
	lines     []int // where the lines of the frontmatter start, once somebody asks
}

// Body returns the Markdown after the frontmatter.
func (d *Document) Body() []byte { return d.Source[d.BodyStart:] }

// FrontText returns the text between the fences.
func (d *Document) FrontText() []byte { return d.Source[d.FrontStart:d.FrontEnd] }

// Lookup returns the key and value nodes of a field of the frontmatter, or two nils. Of a key that is there twice the
// first counts.
func (d *Document) Lookup(key string) (k, v *yaml.Node) {
	for k, v := range yamlx.Pairs(d.Front) {
		if k.Value == key {
			return k, v
		}
	}
	return nil, nil
}

// Recovered reports whether the value node v was taken as plain text from a field that is not valid YAML. What it says
// about that field is a guess.
func (d *Document) Recovered(v *yaml.Node) bool { return d.recovered[v] }

// Text returns the text of a scalar field as it was written, without quotes; "" when it is missing, null, or not a
// scalar.
func (d *Document) Text(key string) string {
	_, v := d.Lookup(key)
	return ScalarText(v)
}

// ScalarText returns the text of a scalar node, following one alias; "" for nil, null, and what is not a scalar.
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

// License returns the declared licence, or "".
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

// Files returns the entries of the `files` list that have a path; an entry that is only a string is its path.
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
