// Package yamlschema holds YAML against a JSON Schema and says on which node each violation is.
//
// The schema library says which keyword failed where, and points at the parent for keys that are missing or unknown;
// what a person needs, the node to mark and the part of the schema to explain, is worked out here from schema and node.
package yamlschema

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.yaml.in/yaml/v3"
)

// Schema is a JSON Schema (draft 2020-12). It is compiled when it is first needed, and may be used by several
// goroutines.
type Schema struct {
	Raw map[string]any // the schema as it is written

	compile func() (*jsonschema.Schema, error)
}

// New returns the schema of that name and text. The error is that the text is not JSON.
func New(name string, text []byte) (*Schema, error) {
	s := new(Schema)
	if err := json.Unmarshal(text, &s.Raw); err != nil {
		return nil, err
	}
	s.compile = sync.OnceValues(func() (*jsonschema.Schema, error) {
		c := jsonschema.NewCompiler()
		c.Draft = jsonschema.Draft2020
		if err := c.AddResource(name, bytes.NewReader(text)); err != nil {
			return nil, err
		}
		return c.Compile(name)
	})
	return s, nil
}

// Violation is one keyword of the schema that one node breaks.
type Violation struct {
	Pointer string           // where in the document, as a JSON pointer with plain steps
	Keyword string           // as "type"
	Rule    map[string]any   // the part of the schema that holds the keyword
	Context []map[string]any // the parts of the schema around it, the outermost first
	Needs   string           // the field whose presence made it apply, for dependentSchemas
	Key     *yaml.Node       // of Node, nil in a list and at the root
	Node    *yaml.Node
}

// Check validates a document. The library says which keyword failed where; keys that are missing or
// unknown are worked out from schema and node, because its messages point at their parent.
func (s *Schema) Check(root *yaml.Node) ([]Violation, error) {
	compiled, err := s.compile()
	if err != nil {
		return nil, err
	}
	value, err := newValue(root)
	if err != nil {
		return nil, err
	}
	err = compiled.Validate(value)
	if err == nil {
		return nil, nil
	}
	ve, ok := err.(*jsonschema.ValidationError) //nolint:errorlint // the library documents the concrete type
	if !ok {
		return nil, err
	}
	var out []Violation
	for _, leaf := range leaves(ve, nil) {
		out = append(out, s.locate(root, leaf))
	}
	slices.SortStableFunc(out, func(a, b Violation) int {
		return strings.Compare(a.Pointer+" "+a.Keyword, b.Pointer+" "+b.Keyword)
	})
	return out, nil
}

func leaves(ve *jsonschema.ValidationError, out []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(ve.Causes) == 0 {
		return append(out, ve)
	}
	for _, c := range ve.Causes {
		out = leaves(c, out)
	}
	return out
}

// locate finds the nodes and the part of the schema that a leaf error is about.
func (s *Schema) locate(root *yaml.Node, leaf *jsonschema.ValidationError) Violation {
	v := Violation{Node: root}
	for _, step := range steps(leaf.InstanceLocation) {
		v.Pointer += "/" + step
		v.Key, v.Node = Descend(v.Node, step)
	}
	_, pointer, _ := strings.Cut(leaf.AbsoluteKeywordLocation, "#")
	where := steps(pointer)
	if len(where) == 0 {
		return v
	}
	v.Keyword = where[len(where)-1]
	var value any = s.Raw
	v.Context = []map[string]any{s.Raw}
	for i, step := range where[:len(where)-1] {
		if i > 0 && where[i-1] == "dependentSchemas" {
			v.Needs = step
		}
		value = member(value, step)
		if m, ok := value.(map[string]any); ok {
			v.Context = append(v.Context, m)
		}
	}
	v.Rule, _ = value.(map[string]any)
	return v
}

// steps splits a JSON pointer in a URI fragment into plain steps.
func steps(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		if decoded, err := url.PathUnescape(p); err == nil {
			p = decoded
		}
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return parts
}

func member(v any, step string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[step]
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// Descend takes one step into a node; where it cannot, it stays.
func Descend(n *yaml.Node, step string) (key, value *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i], n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return nil, n.Content[i]
		}
	}
	return nil, n
}

// Texts returns the strings of a JSON array.
func Texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// FieldNames returns the keys that a part of a schema declares, in order.
func FieldNames(rule map[string]any) []string {
	properties, _ := rule["properties"].(map[string]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
