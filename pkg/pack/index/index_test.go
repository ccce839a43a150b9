package index_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/schema"
)

var (
	tree   = "t1:sha256:" + strings.Repeat("a", 64)
	digest = "sha256:" + strings.Repeat("b", 64)
)

func line(version string) index.Line {
	return index.Line{
		Name: "acme/deploy", Version: version, Published: "2026-11-20T09:30:00Z",
		Source: "oci://registry.example/acme/deploy", Digest: digest, Integrity: tree,
		Skills:       []index.Skill{{Name: "deploy", Description: "Deploys <it> & waits", Tree: tree}},
		Dependencies: index.Dependencies{"acme/base": {Constraint: ">=1 <3"}, "globex/ops": {Constraint: "~1.3", Skills: []string{"rollout"}}},
	}
}

func ExamplePath() {
	fmt.Println(index.Path(pack.ID{Owner: "acme", Name: "deploy"}))
	// Output: packs/a5/0a/acme/deploy.ndjson
}

func TestAppendAndParse(t *testing.T) { // M2
	var data []byte
	var err error
	for _, v := range []string{"1.2.0", "1.10.0", "2.0.0-rc.1"} {
		if data, err = index.Append("f", data, line(v)); err != nil {
			t.Fatal(err)
		}
	}
	if data, err = index.AppendYank("f", data, "1.2.0", "a <bad> release"); err != nil {
		t.Fatal(err)
	}
	entry, err := index.Parse("f", data)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range entry.Versions {
		got = append(got, l.Version+" "+l.Yanked)
	}
	if want := []string{"2.0.0-rc.1 ", "1.10.0 ", "1.2.0 a <bad> release"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if data, err = index.AppendYank("f", data, "1.2.0", ""); err != nil {
		t.Fatal(err)
	}
	if entry, err = index.Parse("f", data); err != nil || entry.Versions[2].Yanked != "" {
		t.Errorf("restored: %+v %v", entry, err)
	}
	if !bytes.Contains(data, []byte(`">=1 <3"`)) {
		t.Errorf("constraints are escaped: %s", data)
	}
	before := bytes.Clone(data)
	if _, err := index.Append("f", data, line("1.10.0")); diag.CodeOf(err) != diag.Invalid || !bytes.Equal(before, data) {
		t.Errorf("a version a second time: %v", err)
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":[{"k0":"\\\"{"}],`, i)
	}
	return b.String()
}

func TestParseRefuses(t *testing.T) {
	good := strings.TrimSuffix(string(line("1.0.0").Encode()), "\n")
	with := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, tt := range []struct{ name, data, want string }{
		{"empty", "", "does not contain a version"},
		{"not JSON", "<html>\n", "f:1: "},
		{"an array", "[]", "a line must be a JSON object"},
		{"two objects", good + good, "after top-level value"},
		{"the second time", good + "\n" + good, "f:2: an earlier line already publishes version 1.0.0"},
		{"another pack", good + "\n" + strings.Replace(with("1.0.0", "1.1.0"), "acme/deploy", "acme/other", 1), "this line is for acme/other"},
		{"a key twice", with(`"version":`, `"version":"9.0.0","version":`), `the key "version" is duplicated`},
		{"a key twice in other case", with(`"version":`, `"Version":"9.0.0","version":`), "is duplicated"},
		{"a key twice, escaped", with(`"version":`, `"\u0076ersion":"9.0.0","version":`), "is duplicated"},
		{"a key twice in another script", with(`"version":`, `"verſion":"9.0.0","version":`), "is duplicated"},
		{"a key twice among many", with(`{"name"`, `{"x":{`+manyKeys(40)+`"k39":0},"name"`), `the key "k39" is duplicated`},
		{"a key twice deeper", with(`"tree":`, `"tree":"x","tree":`), `the key "tree" is duplicated`},
		{"deep", with(`{"name"`, `{"x":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)+`,"name"`), "too deeply"},
		{"does not contain a version", with(`"1.0.0"`, `""`), `invalid version ""`},
		{"a loose version", with(`"1.0.0"`, `"v1.0"`), `invalid version "v1.0"`},
		{"build metadata", with(`"1.0.0"`, `"1.0.0+1"`), "build metadata"},
		{"a bad name", with("acme/deploy", "../etc"), "owner"},
		{"a bad time", with("2026-11-20T09:30:00Z", "yesterday"), "RFC 3339"},
		{"no source", with(`"oci://registry.example/acme/deploy"`, `""`), "requires a source"},
		{"a bad tree", with(tree, "t1:md5:x"), "64 hexadecimal digits"},
		{"no skills", with(`"skills":[`, `"skills":[],"x":[`), "at least one skill"},
		{"a type", with(`"1.0.0"`, `1`), "version has the wrong type"},
		{"withdrawn before published", `{"version":"1.0.0","yanked":"x"}`, "is yanked, but no earlier line publishes it"},
		{"withdrawn without reason", good + "\n" + `{"version":"1.0.0","yanked":""}`, "yanked must be a reason or false"},
		{"withdrawn with true", good + "\n" + `{"version":"1.0.0","yanked":true}`, "yanked must be a reason or false"},
		{"withdrawn with content", good + "\n" + with(`"version"`, `"yanked":"x","version"`), "must contain only version and yanked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := index.Parse("f", []byte(tt.data))
			if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSyntaxError(t *testing.T) {
	_, err := index.Parse("packs/x", []byte("\n\n{}\n"))
	var syntax *index.SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 3 || syntax.Path != "packs/x" {
		t.Errorf("got %v", err)
	}
}

func TestPack(t *testing.T) {
	id := pack.ID{Owner: "acme", Name: "deploy"}
	commit := strings.Repeat("c", 40)
	for _, tt := range []struct {
		name, source, digest string
		base                 pack.Ref
		want                 pack.Ref
		err                  string
	}{
		{name: "registry", source: "oci://registry.example/acme/deploy", digest: digest, want: pack.Ref{Kind: pack.KindOCI, URL: "oci://registry.example/acme/deploy", Digest: digest}},
		{name: "git", source: "git+https://git.example/o/r.git//packs/x", digest: commit, want: pack.Ref{Kind: pack.KindGit, URL: "https://git.example/o/r.git", Subdir: "packs/x", Digest: commit}},
		{name: "embedded", source: "oci-layout:layout", digest: digest, base: pack.Ref{Kind: pack.KindEmbedded}, want: pack.Ref{Kind: pack.KindEmbedded, ID: id, Digest: digest}},
		{name: "directory", source: "oci-layout:layout", digest: digest, base: pack.Ref{Kind: pack.KindPath, URL: "../idx"}, want: pack.Ref{Kind: pack.KindLayout, URL: "../idx/layout", ID: id, Digest: digest}},
		{name: "a layout of a web index", source: "oci-layout:layout", digest: digest, err: "only an index in a directory"},
		{name: "a layout outside", source: "oci-layout:../../etc", digest: digest, base: pack.Ref{Kind: pack.KindPath, URL: "idx"}, err: "is outside its index"},
		{name: "an absolute layout", source: "oci-layout:/etc", digest: digest, base: pack.Ref{Kind: pack.KindPath, URL: "idx"}, err: "is outside its index"},
		{name: "a path", source: "path:x", digest: "", err: "cannot refer to"},
		{name: "local", source: "local", digest: digest, err: "cannot refer to"},
		{name: "a branch", source: "git+https://git.example/o/r.git", digest: "main", err: "invalid commit"},
		{name: "an option", source: "git+--upload-pack=x", digest: commit, err: "git+--upload-pack=x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := line("1.0.0")
			l.Source, l.Digest = tt.source, tt.digest
			p, err := l.Pack(tt.base)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %+v %v, want %q", p, err, tt.err)
				}
				return
			}
			if err != nil || p.Ref != tt.want || p.ID != id || len(p.Dependencies) != 2 || p.Dependencies[1].Skills[0] != "rollout" {
				t.Errorf("got %+v %v, want %+v", p, err, tt.want)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	c, err := index.ParseConfig("config.json", (&index.Config{Version: 1, Title: "x"}).Encode())
	if err != nil || c.Title != "x" {
		t.Errorf("got %+v %v", c, err)
	}
	for _, text := range []string{`{"version": 2}`, `{}`, `<html>`} {
		if _, err := index.ParseConfig("config.json", []byte(text)); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSchema checks that the published schema and the parser accept the same files.
func TestSchema(t *testing.T) {
	text, err := schema.Read("index-line")
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsonschema.CompileString(schema.Base+"index-line.schema.json", string(text))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Examples []json.RawMessage }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var file []byte
	for _, e := range doc.Examples {
		var compact bytes.Buffer
		if err := json.Compact(&compact, e); err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(compact.String(), `"1.3.0"`, `"1.4.0"`, 1) // the examples of withdrawing are about another version
		file = append(append(file, text...), '\n')
	}
	if _, err := index.Parse("examples", file); err != nil {
		t.Errorf("the schema's examples: %v", err)
	}
	good := string(line("1.0.0").Encode())
	for _, tt := range []struct {
		text string
		want bool
	}{
		{good, true},
		{strings.Replace(good, "1.0.0", "1.0.0-rc.1", 1), true},
		{strings.Replace(good, "1.0.0", "1.0.0+1", 1), false},
		{strings.Replace(good, "1.0.0", "v1.0.0", 1), false},
		{strings.Replace(good, "acme/deploy", "Acme/deploy", 1), false},
		{strings.Replace(good, "2026-11-20T09:30:00Z", "yesterday", 1), false},
		{strings.Replace(good, tree, "x", 1), false},
		{strings.Replace(good, `"skills":[`, `"skills":[],"x":[`, 1), false},
		{strings.Replace(good, `{"name"`, `{"tags":["k8s","größe"],"license":"MIT","description":"x","name"`, 1), true},
		{strings.Replace(good, `{"name"`, `{"requires":{"bins":["kubectl"],"os":["linux"]},"name"`, 1), true},
		{strings.Replace(good, `{"name"`, `{"tags":["two words"],"name"`, 1), false},
		{strings.Replace(good, `{"name"`, `{"tags":[""],"name"`, 1), false},
		{strings.Replace(good, `{"name"`, `{"tags":"k8s","name"`, 1), false},
		{strings.Replace(good, `{"name"`, `{"deprecated":"x","name"`, 1), false},
		{`{"deprecated":true}`, false},
		{`{}`, false},
		{`[]`, false},
	} {
		var v any
		if err := json.Unmarshal([]byte(tt.text), &v); err != nil {
			t.Fatal(err)
		}
		schemaErr := s.Validate(v)
		_, parseErr := index.Parse("f", []byte(tt.text))
		if (schemaErr == nil) != tt.want || (parseErr == nil) != tt.want {
			t.Errorf("%s: schema %v, parser %v, want valid %t", tt.text, schemaErr, parseErr, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(line("1.0.0").Encode())
	f.Add([]byte(`{"version":"1.0.0","yanked":false}`))
	f.Add(append(line("1.0.0").Encode(), `{"version":"1.0.0","yanked":"x"}`...))
	f.Add([]byte("{\"name\":\"a/b\"}\n\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entry, err := index.Parse("f", data)
		if err != nil {
			return
		}
		var again []byte
		for _, l := range slices.Backward(entry.Versions) {
			if again, err = index.Append("f", again, l); err != nil {
				t.Fatalf("what was cannot write to read: %v", err)
			}
			if l.Yanked == "" {
				continue
			}
			if again, err = index.AppendYank("f", again, l.Version, l.Yanked); err != nil {
				t.Fatal(err)
			}
		}
		second, err := index.Parse("f", again)
		if err != nil || second.ID != entry.ID || len(second.Versions) != len(entry.Versions) {
			t.Fatalf("read again: %+v %v, first %+v", second, err, entry)
		}
	})
}

// BenchmarkParse reads the file of a pack with 200 versions of 10 skills each.
func BenchmarkParse(b *testing.B) {
	var data []byte
	for i := range 200 {
		l := line(fmt.Sprintf("1.%d.0", i))
		for n := range 9 {
			l.Skills = append(l.Skills, index.Skill{Name: fmt.Sprintf("skill-%d", n), Description: strings.Repeat("words ", 30), Tree: tree})
		}
		data = append(data, l.Encode()...)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := index.Parse("f", data); err != nil {
			b.Fatal(err)
		}
	}
}
