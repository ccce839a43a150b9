package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/skillpm/skillpm/schema"
)

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := schema.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.ExtractAnnotations = true
	if err := c.AddResource(name, bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemas checks that every schema compiles as draft 2020-12, is available under its declared address, and has a
// title and a description for editors.
func TestSchemas(t *testing.T) {
	names := schema.Names()
	if !slices.Contains(names, "skill.agentskills") || !slices.IsSorted(names) {
		t.Errorf("got %q", names)
	}
	outputs := schema.OutputNames()
	if !slices.Contains(outputs, "output/log-verify") || !slices.IsSorted(outputs) {
		t.Errorf("got %q", outputs)
	}
	names = append(names, outputs...)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s := compile(t, name)
			text, _ := schema.Read(name + ".schema.json")
			var head struct {
				Schema string `json:"$schema"`
				ID     string `json:"$id"`
			}
			if err := json.Unmarshal(text, &head); err != nil {
				t.Fatal(err)
			}
			if head.ID != schema.Base+name+".schema.json" || head.Schema != "https://json-schema.org/draft/2020-12/schema" {
				t.Errorf("got %+v", head)
			}
			if s.Title == "" || s.Description == "" {
				t.Error("no title or description")
			}
		})
	}
}

// TestFields checks that an editor can complete and explain every field of a skill, a policy, and a profile: each has a
// title, a description, and values to choose from or examples, which the schema itself accepts.
func TestFields(t *testing.T) {
	for _, name := range schema.Names() {
		if strings.HasPrefix(name, "skill.") || name == "policy" || name == "profile" || name == "skill-test" || name == "skill-evals" {
			fields(t, name, compile(t, name))
		}
	}
}

func fields(t *testing.T, at string, s *jsonschema.Schema) {
	t.Helper()
	for name, p := range s.Properties {
		where := at + "." + name
		if p.Ref != nil && p.Title == "" {
			p = p.Ref
		}
		if p.Title == "" || !strings.HasSuffix(p.Description, ".") {
			t.Errorf("%s: title %q, description %q", where, p.Title, p.Description)
		}
		for _, example := range p.Examples {
			if err := p.Validate(example); err != nil {
				t.Errorf("%s: example %v: %v", where, example, err)
			}
		}
		if p.Default != nil {
			if err := p.Validate(p.Default); err != nil {
				t.Errorf("%s: default %v: %v", where, p.Default, err)
			}
		}
		fields(t, where, p)
		if item, ok := p.Items2020, p.Items2020 != nil; ok {
			if item.Ref != nil {
				item = item.Ref
			}
			fields(t, where+"[]", item)
		}
	}
}

func TestReadUnknown(t *testing.T) {
	if _, err := schema.Read("../embed"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
