package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/schema"
)

func compile(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	text, err := schema.Read("policy")
	if err != nil {
		tb.Fatal(err)
	}
	s, err := jsonschema.CompileString(schema.Base+"policy.schema.json", string(text))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// validate validates a YAML text against the schema, like an editor. The text must be YAML that can be converted to
// JSON.
func validate(s *jsonschema.Schema, text []byte) (readable bool, err error) {
	var value any
	if yaml.Unmarshal(text, &value) != nil {
		return false, nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return false, nil
	}
	if err := json.Unmarshal(data, &value); err != nil {
		return false, nil
	}
	return true, s.Validate(value)
}

// TestSchemaExample checks that the example of the schema is a valid policy, as YAML and as JSON.
func TestSchemaExample(t *testing.T) {
	text, err := schema.Read("policy")
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ Examples []any }
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Examples) == 0 {
		t.Error("no example")
	}
	for _, example := range s.Examples {
		asYAML, _ := yaml.Marshal(example)
		asJSON, _ := json.Marshal(example)
		for _, data := range [][]byte{asYAML, asJSON} {
			if _, err := validate(compile(t), data); err != nil {
				t.Error(err)
			}
			if _, err := policy.Parse("p", data); err != nil {
				t.Errorf("%v\n%s", err, data)
			}
		}
	}
}

// TestDocumentation checks that the policy in the documentation is valid.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Rules\n")
	_, example, _ := strings.Cut(section, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if p, err := policy.Parse("formats.md", []byte(example)); err != nil || len(p.Require) != 1 {
		t.Errorf("%v\n%s", err, example)
	}
	if _, err := validate(compile(t), []byte(example)); err != nil {
		t.Error(err)
	}
}

// onlyParse lists the mistakes of the table bad that a schema cannot detect: in YAML syntax, in related settings, and
// others.
var onlyParse = []string{
	"version as a float", "two documents", "too large", "alias", "tag", "merge key", "threshold",
	"one key twice", "forbidden and approved", "limit in hexadecimal", "a file larger than all", "rule",
}

// notYAML lists the mistakes that the schema tests skip.
var notYAML = []string{"not YAML", "template", "conflict", "duplicate key", "duplicate key below", "key that is a list"}

// TestSchemaAgrees checks that the schema and the parser reject the same texts, with the listed exceptions.
func TestSchemaAgrees(t *testing.T) {
	s := compile(t)
	for _, tt := range bad {
		readable, err := validate(s, []byte(tt.text))
		if readable == slices.Contains(notYAML, tt.name) {
			t.Errorf("%s: readable %v", tt.name, readable)
		}
		if readable && (err == nil) != slices.Contains(onlyParse, tt.name) {
			t.Errorf("%s: the schema says %v", tt.name, err)
		}
	}
	for _, text := range []string{
		"version: 1\n", "version: '1'\n", "version: 1\nsources: {allow: []}\nskills: {}\nrequire: []\nlimits: {}\nlint: {}\n",
		strings.Replace(full, `match: "**"`, "match: local", 1),
		"version: 1\naudit: {path: 'C:\\log\\audit.jsonl'}\n",
		"version: 1\nlimits: {file_bytes: 999999999GiB, files: 999999999999999}\nlint: {fail_on: ['*', Sec]}\n",
	} {
		if _, err := validate(s, []byte(text)); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if _, err := policy.Parse("p", []byte(text)); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

// TestSchemaKeys checks that the parser and the schema know the same keys.
func TestSchemaKeys(t *testing.T) {
	s := compile(t)
	problems := policy.Check("p", []byte("version: 1\nzzzzzzzz: 1\n"))
	if len(problems) != 1 {
		t.Fatal(render(problems))
	}
	known := strings.Split(strings.Replace(strings.TrimPrefix(problems[0].Hint, "use one of "), ", or ", ", ", 1), ", ")
	for _, key := range known {
		if s.Properties[key] == nil {
			t.Errorf("the schema lacks %s", key)
		}
	}
	if len(known) != len(s.Properties) {
		t.Errorf("the schema has %d keys, and the reader %d", len(s.Properties), len(known))
	}
	capabilities := s.Properties["forbid"].Items2020.Ref.Enum
	for i, c := range policy.Capabilities() {
		if i >= len(capabilities) || capabilities[i] != string(c) {
			t.Errorf("the schema has the capabilities %v", capabilities)
			break
		}
	}
}

// FuzzSchema checks that the schema accepts what the parser accepts. For a single text, the parser accepts what the
// schema accepts, except for ports, forges, and regular expressions, which the schema cannot validate.
func FuzzSchema(f *testing.F) {
	s := compile(f)
	for _, text := range []string{
		"oci://registry.example/acme/**", "git+https://*.git.example:8443/a/*.git//b/**", "local", "oci://h/a**", "oci://h.example/a..b/.c",
		"git+ssh://git.example/~me/x%20y", "deploy@evil/*", "*@a-*b/c", "72h", "9999d", "10MiB", "1048576B", "SEC1*", "*", "keys/a.pub", "/etc/../k",
		"https://a.b/c", "^https://a/.*$", "^0*$", "me+x@a.b", `C:\a\b`, "/var/log/a", "enforce", "hooks", sum, "git+https://h/a//b", "oci://h/a/", "a b", "acme/tools", "group:x y", "ada.l",
	} {
		f.Add(text)
	}
	templates := []string{
		"sources: {allow: [%s]}", "skills: {deny: [%s]}", "skills: {allow: [%s]}", "authoring: {create: {personal: [%s]}}", "require: [{match: local, min_release_age: %s}]", "limits: {file_bytes: %s}",
		"lint: {fail_on: [%s]}", "audit: {path: %s}", "mode: %s", "forbid: [%s]",
		"require: [{match: local, signatures: {any_of: [{key: {file: %s, sha256: " + sum + "}}]}}]",
		"require: [{match: local, signatures: {any_of: [{key: {file: k, sha256: %s}}]}}]",
		"require: [{match: local, signatures: {any_of: [{identity: {issuer: %s, subject: x}}]}}]",
		"require: [{match: local, signatures: {any_of: [{identity: {issuer: \"https://a.b\", subject: %s}}]}}]",
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Skip()
		}
		for _, template := range templates {
			data := fmt.Appendf(nil, "version: 1\n"+template+"\n", quoted)
			readable, err := validate(s, data)
			problems := policy.Check("p", data)
			switch {
			case !readable:
			case err != nil && len(problems) == 0:
				t.Errorf("only the schema refuses %s: %v", data, err)
			case err == nil && len(problems) > 0 && !beyond(problems[0].Message):
				t.Errorf("only the reader refuses %s: %s", data, render(problems))
			}
		}
	})
}

// beyond reports whether a problem is one that the schema cannot detect.
func beyond(message string) bool {
	for _, part := range []string{"port", "one line of text", "lacks .git at the end of the repository", "unknown rule", "regular expression", "anchored", "every identity", "is not the https address", "has a missing or invalid host"} {
		if strings.Contains(message, part) {
			return true
		}
	}
	return false
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	for _, tt := range bad {
		f.Add([]byte(tt.text[:min(len(tt.text), 1000)]))
	}
	s := compile(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		problems := policy.Check("p", data)
		p, err := policy.Parse("p", data)
		if (err == nil) != (len(problems) == 0) || (p == nil) == (err == nil) {
			t.Fatalf("%q: %v, %v, %v", data, problems, p, err)
		}
		lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + strings.Count(string(data), "\u0085") +
			strings.Count(string(data), "\u2028") + strings.Count(string(data), "\u2029") + 1
		for i, problem := range problems {
			if problem.Message == "" || problem.Line < 0 || problem.Line > lines || problem.Column < 0 || i > 0 && problem.Line < problems[i-1].Line {
				t.Errorf("%q: %+v", data, problem)
			}
		}
		if readable, refused := validate(s, data); err == nil && readable && refused != nil {
			t.Errorf("only the schema refuses %q: %v", data, refused)
		}
	})
}
