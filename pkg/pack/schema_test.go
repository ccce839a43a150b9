package pack_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/schema"
)

var compiled sync.Map

// compile returns a schema of the schema directory.
func compile(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	if s, ok := compiled.Load(name); ok {
		return s.(*jsonschema.Schema)
	}
	text, err := schema.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsonschema.CompileString(schema.Base+name+".schema.json", string(text))
	if err != nil {
		t.Fatal(err)
	}
	compiled.Store(name, s)
	return s
}

// checkSchema fails unless a schema accepts or rejects a YAML text as expected.
func checkSchema(t testing.TB, name string, text []byte, want bool) {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(value) // what an editor's YAML plugin checks
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	if err := compile(t, name).Validate(value); (err == nil) != want {
		t.Errorf("the schema of the %s: %v, for\n%s", name, err, text)
	}
}

// TestSchemas checks M6: the schemas of skillpm's own files accept what the parsers accept, and both accept the
// schemas' examples.
func TestSchemas(t *testing.T) {
	parse := map[string]func(string, []byte) error{
		"manifest": func(p string, d []byte) error { _, err := pack.ParseManifest(p, d); return err },
		"config":   func(p string, d []byte) error { _, err := pack.ParseConfig(p, d); return err },
		"lock":     func(p string, d []byte) error { _, err := pack.ParseLock(p, d); return err },
	}
	for name, parse := range parse {
		text, err := schema.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			ID          string `json:"$id"`
			Schema      string `json:"$schema"`
			Title       string
			Description string
			Examples    []any
			Properties  map[string]any
		}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if s.ID != schema.Base+name+".schema.json" || !strings.HasSuffix(s.Schema, "2020-12/schema") || s.Title == "" || s.Description == "" {
			t.Errorf("%s: $id %q, title %q", name, s.ID, s.Title)
		}
		if len(s.Examples) == 0 {
			t.Errorf("%s has no example", name)
		}
		for _, example := range s.Examples {
			data, err := yaml.Marshal(example)
			if err != nil {
				t.Fatal(err)
			}
			checkSchema(t, name, data, true)
			if err := parse(name+".yaml", data); err != nil {
				t.Errorf("%v\n%s", err, data)
			}
			asJSON, err := json.Marshal(example)
			if err != nil {
				t.Fatal(err)
			}
			if err := parse(name+".json", asJSON); err != nil {
				t.Errorf("as JSON: %v", err)
			}
		}
	}
	checkSchema(t, "manifest", []byte(full), true)
	checkKeys(t, "manifest", pack.ManifestKeys())
	checkKeys(t, "config", pack.ConfigKeys())
}

// checkKeys fails if a schema does not have exactly the keys that the parser knows.
func checkKeys(t *testing.T, name string, want []string) {
	t.Helper()
	s := compile(t, name)
	for _, key := range want {
		if s.Properties[key] == nil {
			t.Errorf("the schema of the %s lacks %s", name, key)
		}
	}
	if len(s.Properties) != len(want) {
		t.Errorf("the schema of the %s has %d keys, and the parser %d", name, len(s.Properties), len(want))
	}
}

// TestSchemaDependencyForms checks that the dependency forms among the schema's examples are exactly those that the
// parser reads.
func TestSchemaDependencyForms(t *testing.T) {
	for _, text := range []string{
		`"*"`, `1.5`, `{version: "^1"}`, `{oci: "oci://h/r", skills: [a]}`, `{layout: x, tag: "1"}`,
		`{git: "https://h/r.git", path: p, branch: b, digest: ` + strings.Repeat("a", 40) + `}`, `{path: .}`,
	} {
		data := []byte("dependencies: {a/b: " + text + "}")
		if _, err := pack.ParseManifest("m", data); err != nil {
			t.Error(err)
		}
		checkSchema(t, "manifest", data, true)
	}
	if text, err := schema.Read("manifest"); err != nil || bytes.Contains(text, []byte("\t")) {
		t.Errorf("the schema cannot be read or has tabs: %v", err)
	}
}
