package lint

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

	"github.com/skillpm/skillpm/pkg/profile"
	"github.com/skillpm/skillpm/schema"
)

// judge holds frontmatter against one profile's schema.
type judge struct {
	*profile.Profile
	schema func() (*jsonschema.Schema, error) // compiled when first needed
	raw    map[string]any                     // the schema's own text
}

func newJudge(p *profile.Profile) (*judge, error) {
	text, err := schema.Read(p.Schema)
	if err != nil {
		return nil, err
	}
	j := &judge{Profile: p}
	if err := json.Unmarshal(text, &j.raw); err != nil {
		return nil, err
	}
	j.schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
		c := jsonschema.NewCompiler()
		c.Draft = jsonschema.Draft2020
		if err := c.AddResource(p.Schema, bytes.NewReader(text)); err != nil {
			return nil, err
		}
		return c.Compile(p.Schema)
	})
	return j, nil
}

// violation is one keyword of the schema that one node breaks.
type violation struct {
	pointer string         // where in the frontmatter, as a JSON pointer with plain steps
	keyword string         // as "type"
	rule    map[string]any // the part of the schema that holds the keyword
	context []map[string]any
	needs   string // the field whose presence made it apply, for dependentSchemas
	key     *yaml.Node
	node    *yaml.Node
}

// violations validates the frontmatter's mapping. The library says which keyword failed where; keys that are missing or
// unknown are worked out from schema and node, because its messages point at their parent.
func (j *judge) violations(root *yaml.Node) ([]violation, error) {
	compiled, err := j.schema()
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
	var out []violation
	for _, leaf := range leaves(ve, nil) {
		out = append(out, j.locate(root, leaf))
	}
	slices.SortStableFunc(out, func(a, b violation) int {
		return strings.Compare(a.pointer+" "+a.keyword, b.pointer+" "+b.keyword)
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
func (j *judge) locate(root *yaml.Node, leaf *jsonschema.ValidationError) violation {
	v := violation{key: nil, node: root}
	for _, step := range steps(leaf.InstanceLocation) {
		v.pointer += "/" + step
		v.key, v.node = descend(v.node, step)
	}
	_, pointer, _ := strings.Cut(leaf.AbsoluteKeywordLocation, "#")
	where := steps(pointer)
	if len(where) == 0 {
		return v
	}
	v.keyword = where[len(where)-1]
	var at any = j.raw
	v.context = []map[string]any{j.raw}
	for i, step := range where[:len(where)-1] {
		if i > 0 && where[i-1] == "dependentSchemas" {
			v.needs = step
		}
		at = member(at, step)
		if m, ok := at.(map[string]any); ok {
			v.context = append(v.context, m)
		}
	}
	v.rule, _ = at.(map[string]any)
	return v
}

// steps splits a JSON pointer in a URI fragment into plain steps.
func steps(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		if plain, err := url.PathUnescape(p); err == nil {
			p = plain
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

// descend takes one step into a node; where it cannot, it stays.
func descend(n *yaml.Node, step string) (key, value *yaml.Node) {
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

// texts returns the strings of a JSON array.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// fieldNames returns the keys that a part of a schema declares, in order.
func fieldNames(rule map[string]any) []string {
	properties, _ := rule["properties"].(map[string]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// hostFields returns, for every field that some profile knows, the profiles that know it.
func hostFields() map[string][]string {
	hosts := map[string][]string{}
	all, _ := profile.All() // embedded: a test reads them all
	for _, p := range all {
		text, err := schema.Read(p.Schema)
		if err != nil {
			continue
		}
		var raw map[string]any
		if json.Unmarshal(text, &raw) != nil {
			continue
		}
		for _, name := range fieldNames(raw) {
			hosts[name] = append(hosts[name], p.ID)
		}
	}
	return hosts
}
