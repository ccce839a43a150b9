package outputschema

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var root = filepath.Join("..", "..", "..", "..")

func TestNodes(t *testing.T) {
	type tree struct {
		Name     string `json:"name"`
		Children []tree `json:"children,omitempty"`
	}
	type embedded struct {
		Inner int `json:"inner"`
	}
	type document struct {
		embedded
		At      time.Time         `json:"at"`
		Pointer *float64          `json:"pointer"`
		Maybe   *bool             `json:"maybe,omitempty"`
		Zero    []string          `json:"zero,omitzero"`
		Labels  map[string]string `json:"labels"`
		Any     any               `json:"any"`
		Tree    tree              `json:"tree"`
		Left    string            `json:"-"`
		hidden  string            //nolint:unused // must not be in the schema
	}
	var missing []string
	g := &generator{
		comments: &comments{root, map[string]map[string]string{}}, defs: &orderedMap{},
		names: map[reflect.Type]string{}, missing: &missing,
	}
	n, err := g.object(reflect.TypeFor[document](), true)
	if err != nil {
		t.Fatal(err)
	}
	n.Defs = g.defs
	got, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","additionalProperties":false,` +
		`"required":["schemaVersion","inner","at","pointer","labels","any","tree"],"properties":{` +
		`"schemaVersion":{"description":"Version of the documents.","const":1},` +
		`"inner":{"type":"integer"},"at":{"type":"string","format":"date-time"},` +
		`"pointer":{"anyOf":[{"type":"number"},{"type":"null"}]},"maybe":{"type":"boolean"},` +
		`"zero":{"type":"array","items":{"type":"string"}},` +
		`"labels":{"type":"object","additionalProperties":{"type":"string"}},"any":{},` +
		`"tree":{"$ref":"#/$defs/tree"}},` +
		`"$defs":{"tree":{"type":"object","additionalProperties":false,"required":["name"],"properties":{` +
		`"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(missing) != 10 { // every field is reported, because tests are not read
		t.Errorf("got %q", missing)
	}
}

func TestSentence(t *testing.T) {
	for _, c := range []struct{ comment, name, want string }{
		{"its directory", "Path", "Its directory."},
		{"Path is the\ndirectory.", "Path", "The directory."},
		{"Edits fix it, see [Files].", "Edits", "Edits fix it, see Files."},
		{"", "Path", ""},
	} {
		if got := sentence(c.comment, c.name); got != c.want {
			t.Errorf("%q: got %q, want %q", c.comment, got, c.want)
		}
	}
}

func TestFormat(t *testing.T) {
	long := strings.Repeat("x", maxLine-20)
	for text, want := range map[string]string{
		`{}`:                               "{}\n",
		`{"a":{"b":[1,"c"]}}`:              "{\n \"a\": {\"b\": [1, \"c\"]}\n}\n",
		`{"a":{"b":1,"c":"` + long + `"}}`: "{\n \"a\": {\n  \"b\": 1,\n  \"c\": \"" + long + "\"\n }\n}\n",
	} {
		if got, err := format([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%s: got %s%v", text, got, err)
		}
	}
}

var camelCase = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

// TestNames requires camelCase for the keys of all documents, except for the records of the audit log and for
// advisories, which have the keys of their files.
func TestNames(t *testing.T) {
	files, err := Generate(root)
	if err != nil {
		t.Fatal(err)
	}
	kept := []string{
		"duration_ms", "exit_code", "output_bytes", "database_specific", "last_affected", "schema_version",
	}
	for file, text := range files {
		var whole any
		if err := json.Unmarshal(text, &whole); err != nil {
			t.Fatal(err)
		}
		eachProperty(whole, func(name string, description any) {
			if !camelCase.MatchString(name) && !slices.Contains(kept, name) {
				t.Errorf("%s: key %q is not camelCase", file, name)
			}
			if s, _ := description.(string); !strings.HasSuffix(s, ".") {
				t.Errorf("%s: %s has the description %q", file, name, description)
			}
		})
	}
}

func eachProperty(value any, visit func(name string, description any)) {
	switch value := value.(type) {
	case map[string]any:
		if properties, ok := value["properties"].(map[string]any); ok && value["type"] == "object" {
			for name, p := range properties {
				visit(name, p.(map[string]any)["description"])
			}
		}
		for _, v := range value {
			eachProperty(v, visit)
		}
	case []any:
		for _, v := range value {
			eachProperty(v, visit)
		}
	}
}
