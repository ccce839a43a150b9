// Package yamlschema checks YAML against a JSON Schema, and returns for each violation the node to mark and the part of
// the schema that explains it.
//
// It implements the keywords that the schemas of skillpm use, as draft 2020-12 defines them, and refuses a schema with
// others; check.go lists them. A library with all keywords compiled meta-schemas at each start of skillpm, in a tenth of
// the time of a short command, and did not know the nodes. The tests compare the results with those of the library.
package yamlschema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Schema is a JSON Schema (draft 2020-12). It is compiled when it is first needed, and may be used by several
// goroutines.
type Schema struct {
	Raw map[string]any // the schema as it is written

	patterns func() (map[string]*regexp.Regexp, error) // the compiled patterns, or why the schema is refused
}

// New returns the schema of that name and text. The error is that the text is not JSON.
func New(name string, text []byte) (*Schema, error) {
	s := new(Schema)
	if err := json.Unmarshal(text, &s.Raw); err != nil {
		return nil, err
	}
	s.patterns = sync.OnceValues(func() (map[string]*regexp.Regexp, error) {
		c := compiler{schema: s, patterns: map[string]*regexp.Regexp{}}
		return c.patterns, c.compile(name, s.Raw)
	})
	return s, nil
}

// Violation is one keyword of the schema that one node breaks.
type Violation struct {
	Pointer string           // where in the document, as a JSON pointer with plain steps
	Keyword string           // such as "type"
	Rule    map[string]any   // the part of the schema that has the keyword
	Context []map[string]any // the parts of the schema around it, the outermost first, and Rule
	Needs   string           // the field whose presence made it apply, for dependentSchemas
	Key     *yaml.Node       // of Node, nil in a list and at the root
	Node    *yaml.Node
}

// Check validates a document. Violations are sorted by pointer and keyword. Those of missing and unknown keys are at the
// mapping that lacks or has them.
func (s *Schema) Check(root *yaml.Node) ([]Violation, error) {
	patterns, err := s.patterns()
	if err != nil {
		return nil, err
	}
	value, err := newValue(root)
	if err != nil {
		return nil, err
	}
	out := (&checker{s, patterns}).check(s.Raw, value, Violation{Node: root})
	slices.SortStableFunc(out, func(a, b Violation) int {
		return strings.Compare(a.Pointer+" "+a.Keyword, b.Pointer+" "+b.Keyword)
	})
	return out, nil
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
