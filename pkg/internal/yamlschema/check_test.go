package yamlschema_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
	"github.com/skillpm/skillpm/schema"
)

// TestLibrary checks that each schema of a frontmatter or a profile leads to the same violations as in a library, for
// valid and invalid documents.
func TestLibrary(t *testing.T) {
	for _, name := range schema.Names() {
		if name != "profile" && !strings.HasPrefix(name, "skill.") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text, err := schema.Read(name)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := yamlschema.New(name, text)
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := jsonschema.CompileString(name, string(text))
			if err != nil {
				t.Fatal(err)
			}
			g := generator{rand.New(rand.NewPCG(1, 2)), ours}
			valid, broken := 0, map[string]int{}
			for range 2000 {
				compareWithLibrary(t, ours, theirs, g.document(), func(found []yamlschema.Violation) {
					if len(found) == 0 {
						valid++
					}
					for _, v := range found {
						broken[v.Keyword]++
					}
				})
			}
			if valid == 0 || len(broken) < 3 {
				t.Errorf("the documents are not diverse: %d are valid, violations %v", valid, broken)
			}
		})
	}
}

func compareWithLibrary(t *testing.T, ours *yamlschema.Schema, theirs *jsonschema.Schema, document any,
	visit func([]yamlschema.Violation),
) {
	t.Helper()
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	found, err := ours.Check(node.Content[0])
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, v := range found {
		got = append(got, v.Pointer+" "+v.Keyword)
		if _, ok := v.Rule[v.Keyword]; !ok || v.Node == nil {
			t.Fatalf("%s: %+v", text, v)
		}
	}
	for _, leaf := range leaves(theirs.Validate(value)) {
		pointer, err := url.PathUnescape(leaf.InstanceLocation)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer)+" "+
			leaf.AbsoluteKeywordLocation[strings.LastIndexByte(leaf.AbsoluteKeywordLocation, '/')+1:])
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\n got %q\nwant %q", text, got, want)
	}
	visit(found)
}

func leaves(err error) (out []*jsonschema.ValidationError) {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil
	}
	for _, cause := range invalid.Causes {
		out = append(out, leaves(cause)...)
	}
	if len(invalid.Causes) == 0 {
		out = append(out, invalid)
	}
	return out
}

// generator makes documents from the examples in a schema, some with other values.
type generator struct {
	*rand.Rand
	schema *yamlschema.Schema
}

func (g generator) document() any {
	value := g.value(g.schema.Raw)
	document, ok := value.(map[string]any)
	if !ok {
		return value
	}
	document = maps.Clone(document)
	for range g.IntN(3) {
		document[g.pick([]any{"extra", "a/b", "a~b", "name", "ü %20"}).(string)] = g.odd()
	}
	return document
}

// value returns a value for a part of the schema.
func (g generator) value(part any) any {
	rule, _ := part.(map[string]any)
	if ref, ok := rule["$ref"].(string); ok {
		rule = g.schema.Raw["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if g.IntN(12) == 0 {
		return g.odd()
	}
	for _, keyword := range []string{"enum", "examples"} {
		if list, ok := rule[keyword].([]any); ok && len(list) > 0 && g.IntN(4) > 0 {
			return g.pick(list)
		}
	}
	properties, _ := rule["properties"].(map[string]any)
	switch {
	case properties != nil:
		object := map[string]any{}
		for name, property := range properties {
			if g.IntN(4) == 0 || slices.Contains(yamlschema.Texts(rule["required"]), name) && g.IntN(20) > 0 {
				object[name] = g.value(property)
			}
		}
		return object
	case rule["items"] != nil:
		list := []any{}
		for range g.IntN(4) {
			list = append(list, g.value(rule["items"]))
		}
		return list
	case rule["additionalProperties"] != nil:
		return map[string]any{"key": g.value(rule["additionalProperties"])}
	case rule["const"] != nil:
		return rule["const"]
	}
	return g.odd()
}

func (g generator) odd() any {
	return g.pick([]any{
		nil, true, false, 0.0, 1.0, 1.5, -3.0, 1e6, "", " ", "x", "a-b", "UPPER", "ü", strings.Repeat("ö", 70), strings.Repeat("long ", 500),
		[]any{},
		[]any{"a", "a"},
		[]any{"a", 1.0, nil},
		[]any{map[string]any{"path": "a"}, map[string]any{"path": "a"}},
		map[string]any{},
		map[string]any{"a": "b"},
		map[string]any{"a": 1.0, "b": []any{"c"}},
	})
}

func (g generator) pick(list []any) any { return list[g.IntN(len(list))] }

// TestKeywords checks that a schema is refused with a keyword, a reference, or a pattern that has no effect here.
func TestKeywords(t *testing.T) {
	for text, want := range map[string]string{
		`{"properties": {"a": {"oneOf": []}}}`:             "s/properties/a/oneOf",
		`{"anyOf": [{"type": "string"}, {"if": {}}]}`:      "s/anyOf/1/if",
		`{"properties": {"a": true}}`:                      "s/properties/a",
		`{"additionalProperties": {"items": {"then": 1}}}`: "s/additionalProperties/items/then",
		`{"$defs": {}, "items": {"$ref": "#/$defs/a"}}`:    "s/items/$ref",
		`{"$ref": "other.json"}`:                           "s/$ref",
		`{"pattern": "("}`:                                 "missing closing )",
	} {
		s, err := yamlschema.New("s", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Check(&yaml.Node{Kind: yaml.MappingNode}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
