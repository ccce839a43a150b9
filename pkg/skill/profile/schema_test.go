package profile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/schema"
)

func profileSchema(t *testing.T) *yamlschema.Schema {
	t.Helper()
	text, err := schema.Read("profile")
	if err != nil {
		t.Fatal(err)
	}
	s, err := yamlschema.New("profile", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchema checks that all profiles match their JSON Schema, and are valid as a user's own.
func TestSchema(t *testing.T) {
	s := profileSchema(t)
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) != len(profile.IDs()) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSuffix(file, ".yaml")
		p, err := profile.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		if p.Preset {
			continue
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		violations, err := s.Check(doc.Content[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range violations {
			t.Errorf("%s:%d: %s %s", file, v.Node.Line, v.Pointer, v.Keyword)
		}
		if _, err := profile.Parse(file, id, text, nil); err != nil {
			t.Error(err)
		}
	}
}

// TestSchemaFields checks that the schema has exactly the fields that the parser reads.
func TestSchemaFields(t *testing.T) {
	raw := profileSchema(t).Raw
	compareFields(t, raw, raw, reflect.TypeFor[profile.Profile](), "profile")
}

func compareFields(t *testing.T, root, at map[string]any, typ reflect.Type, where string) {
	t.Helper()
	if ref, ok := at["$ref"].(string); ok {
		at = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[yaml.Node]():
	case typ.Kind() == reflect.Slice:
		compareFields(t, root, at["items"].(map[string]any), typ.Elem(), where+"[]")
	case typ.Kind() == reflect.Struct:
		properties, _ := at["properties"].(map[string]any)
		var got, want []string
		for name, field := range yamlx.FieldsOf(typ) {
			got = append(got, name)
			if p, ok := properties[name].(map[string]any); ok {
				compareFields(t, root, p, field, where+"."+name)
			}
		}
		for name := range properties {
			want = append(want, name)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the type has %q, the schema %q", where, got, want)
		}
	case typ.Kind() == reflect.Map && at["properties"] == nil:
		if _, ok := at["additionalProperties"].(map[string]any); !ok {
			t.Errorf("%s: no additionalProperties", where)
		}
	}
}

// TestSchemaNames checks that the schema names in profiles are those of skills.
func TestSchemaNames(t *testing.T) {
	text, _ := schema.Read("profile")
	var doc struct {
		Properties map[string]struct{ Enum []string }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range schema.Names() {
		if strings.HasPrefix(name, "skill.") {
			want = append(want, name)
		}
	}
	if got := doc.Properties["schema"].Enum; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
