package yamlx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

var bom = []byte("\xef\xbb\xbf")

// Format configures how one kind of file is read.
type Format struct {
	Name     string // the file in messages, such as "the policy"
	MaxBytes int

	NullIsEmpty bool // a key without a value means an empty mapping or list
	Aliases     bool // anchors, aliases, and tags are allowed
	TypedText   bool // [Value.Decode] does not accept a number as text
	LinesOnly   bool // problems have no columns
	Salvage     bool // if the file is not YAML, each entry of the root is read on its own

	RootMessage  string // the problem of a root that is not a mapping; "": the default
	RootHint     string
	ConflictHint string // how to resolve a merge conflict; "": the default

	// Forbidden reports characters that texts must not contain. If it is set, a multi-line text gets the same problem.
	Forbidden func(rune) bool

	// Explain returns a problem for a file that is not YAML, or nil for the message of the YAML library. If it is nil,
	// the package looks for the cause.
	Explain func(path string, data []byte) *Problem
}

// Reader is one file and its problems.
type Reader struct {
	path     string
	format   Format
	root     *yaml.Node          // nil for a file without content
	readable bool                // it has a root, or no content
	rejected map[*yaml.Node]bool // keys and values with a problem, for which others are not reported
	reports  []report
	syntax   *Error // why the file is not YAML
}

// Read parses and checks data. The path is used in messages.
func Read(path string, data []byte, f Format) *Reader {
	r := &Reader{path: path, format: f, rejected: make(map[*yaml.Node]bool)}
	if f.MaxBytes > 0 && len(data) > f.MaxBytes {
		r.Add(Problem{Message: fmt.Sprintf("the file has %d bytes; the limit is %d", len(data), f.MaxBytes)})
		return r
	}
	if r.conflicts(data) {
		return r
	}
	root, ok := r.document(bytes.TrimPrefix(data, bom))
	if root == nil || f.NullIsEmpty && isNull(root) {
		r.readable = ok
		return r
	}
	r.strict(root)
	if root.Kind != yaml.MappingNode {
		message := f.RootMessage
		if message == "" {
			message = "expected a mapping, with a key on each line"
		}
		r.value(root).Errorf(f.RootHint, "%s", message)
		return r
	}
	r.root, r.readable = root, true
	return r
}

// Root returns the mapping of the file, which does not exist if the file is empty. It returns false if the file cannot
// be parsed.
func (r *Reader) Root() (Value, bool) {
	return Value{Node: r.root, Name: r.format.Name, r: r}, r.readable
}

func (r *Reader) value(n *yaml.Node) Value { return Value{Node: n, r: r} }

// Parse returns the root node of the first document in data, or nil if it is empty. It accepts all of YAML; callers
// check the result.
func Parse(data []byte) (*yaml.Node, error) {
	doc, err := next(yaml.NewDecoder(bytes.NewReader(data)))
	if isSurrogateError(err) {
		if hidden, ok := HideSurrogates(data); ok {
			doc, err = next(yaml.NewDecoder(bytes.NewReader(hidden)))
			restoreSurrogates(doc)
		}
	}
	return rootOf(doc), err
}

// Documents returns the root node of the first document as [Parse] does, and the second document if there is one.
func Documents(data []byte) (root, second *yaml.Node, err error) {
	root, second, err = documents(data)
	if isSurrogateError(err) {
		if hidden, ok := HideSurrogates(data); ok {
			root, second, err = documents(hidden)
			restoreSurrogates(root)
			restoreSurrogates(second)
		}
	}
	return root, second, err
}

func documents(data []byte) (root, second *yaml.Node, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	doc, err := next(dec)
	if err != nil {
		return nil, nil, err
	}
	second, err = next(dec)
	return rootOf(doc), second, err
}

// next returns the next document, nil if there is none.
func next(dec *yaml.Decoder) (*yaml.Node, error) {
	doc := new(yaml.Node)
	if err := dec.Decode(doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return doc, nil
}

func rootOf(doc *yaml.Node) *yaml.Node {
	if doc == nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// document returns the root node of the only document in data. It returns false if a problem prevents that.
func (r *Reader) document(data []byte) (*yaml.Node, bool) {
	root, second, err := Documents(data)
	switch {
	case err != nil && root == nil:
		return r.salvage(data, err)
	case err != nil:
		_ = r.notYAML(data, err)
	case second != nil:
		r.value(second).Errorf("remove the line --- and the text after it",
			"unexpected second YAML document")
	}
	return root, true
}

// conflicts reports merge conflict markers.
func (r *Reader) conflicts(data []byte) bool {
	line, open := 0, false
	for text := range bytes.Lines(bytes.TrimPrefix(data, bom)) {
		line++
		for _, marker := range [...]string{"<<<<<<<", "|||||||", ">>>>>>>"} {
			if !bytes.HasPrefix(text, []byte(marker)) {
				continue
			}
			if !open || marker == "<<<<<<<" {
				hint := r.format.ConflictHint
				if hint == "" {
					hint = "choose one side, and remove the lines <<<<<<<, =======, and >>>>>>>"
				}
				r.value(&yaml.Node{Line: line, Column: 1}).
					Errorf(hint, "unresolved merge conflict: %s", bytes.TrimSpace(text))
			}
			open = marker != ">>>>>>>"
		}
	}
	return len(r.reports) > 0
}

// strict reports constructs that can mislead readers: duplicate keys, anchors, aliases, and tags.
func (r *Reader) strict(n *yaml.Node) {
	v := r.value(n)
	switch {
	case r.format.Aliases:
	case n.Kind == yaml.AliasNode:
		r.rejected[n] = true
		v.Errorf("write the value itself in quotes", "the YAML alias *%s is not allowed here", n.Value)
	case n.Anchor != "":
		v.Errorf("write the value itself in quotes", "the YAML anchor &%s is not allowed here", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		r.rejected[n] = n.Kind == yaml.ScalarNode
		v.Errorf("write the value in quotes", "the YAML tag %s is not allowed here", n.Tag)
	}
	if n.Kind == yaml.MappingNode {
		r.keys(n)
	}
	for _, child := range n.Content {
		r.strict(child)
	}
}

// keys reports duplicate keys and keys that are not scalars.
func (r *Reader) keys(n *yaml.Node) {
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for k := range Pairs(n) {
		switch first := seen[k.Value]; {
		case k.Kind == yaml.AliasNode && r.format.Aliases:
		case k.Kind != yaml.ScalarNode:
			r.rejected[k] = true
			r.value(k).Errorf("", "a key must be one word")
		case first != nil:
			r.rejected[k] = true
			r.value(k).Errorf("", "the key %q is duplicated; it first appears on line %d", k.Value, first.Line)
		default:
			seen[k.Value] = k
		}
	}
}

// Pairs yields the keys and values of a mapping node. It yields nothing for other nodes and nil.
func Pairs(n *yaml.Node) func(yield func(k, v *yaml.Node) bool) {
	return func(yield func(k, v *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// Lookup returns the value at a path of keys below a mapping node, or nil.
func Lookup(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		var found *yaml.Node
		for k, v := range Pairs(n) {
			if k.Kind == yaml.ScalarNode && k.Value == key {
				found = v
				break
			}
		}
		n = found
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// Message returns the message of a YAML library error without the library's name.
func Message(err error) string { return strings.TrimPrefix(err.Error(), "yaml: ") }
