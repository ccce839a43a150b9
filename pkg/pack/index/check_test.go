package index_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// whole returns a line with the correct integrity of its skills.
func whole(version string) string {
	l := line(version)
	l.Integrity = bundle.Integrity(map[string]string{"deploy": tree})
	return string(l.Encode())
}

// show writes problems as line:column: message (hint), one a line.
func show(problems []index.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%d:%d: %s", p.Line, p.Column, p.Message)
		if p.Hint != "" {
			fmt.Fprintf(&b, " (%s)", p.Hint)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestCheck(t *testing.T) {
	good := strings.TrimSuffix(whole("1.0.0"), "\n")
	with := func(pairs ...string) string {
		text := good
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("no %s in %s", pairs[i], text)
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	// place returns the position of a text in the line.
	place := func(line, text string) int { return strings.Index(line, text) + 1 }
	integrity := bundle.Integrity(map[string]string{"deploy": tree})
	for _, tt := range []struct{ name, data, want string }{
		{"good", good + "\n" + whole("1.1.0") + `{"version":"1.0.0","yanked":"broken"}` + "\n", ""},
		{"empty", "\n \n", "0:0: the file does not contain a version\n"},
		{"not JSON", "<html>", "1:1: invalid character '<' looking for beginning of value\n"},
		{"after é", `{"name": "é" x}`, "1:14: invalid character 'x' after object key:value pair\n"},
		{"cut off", good[:40], "1:41: unexpected end of JSON input\n"},
		{"an array", "  [1]", "1:1: a line must be a JSON object\n"},
		{
			"several", with(`"acme/deploy"`, `"Acme"`, `"1.0.0"`, `"v1"`, "2026-11-20T09:30:00Z", "today", `"oci://registry.example/acme/deploy"`, `""`, integrity, "x", tree, "y"),
			`1:9: invalid pack name "Acme" (use owner/name, such as acme/deploy)
1:26: invalid version "v1": use a semantic version such as 1.4.0
1:43: invalid time "today" for published: use RFC 3339, such as 2026-01-31T12:00:00Z
1:60: a version requires a source and a digest
1:158: invalid integrity "x": use t1:sha256: and 64 hexadecimal digits
1:233: invalid tree digest "y" of skill deploy: use t1:sha256: and 64 hexadecimal digits
`,
		},
		{
			"types", with(`"1.0.0"`, "1", `"deploy"`, "[]", `"~1.3"`, "2"), `1:33: version has the wrong type: number
1:297: skills.name has the wrong type: array
1:447: dependencies.version has the wrong type: number
`,
		},
		{"the next lines", strings.Join([]string{with(tree, "x"), `{"version":"1.0.0","yanked":true}`, "{", good, whole("1.1.0")}, "\n"), fmt.Sprintf(
			"1:%d: invalid tree digest \"x\" of skill deploy: use t1:sha256: and 64 hexadecimal digits\n2:29: yanked must be a reason or false\n"+
				"3:2: unexpected end of JSON input\n4:33: an earlier line already publishes version 1.0.0, and a published version never changes\n",
			place(with(tree, "x"), `"x"`))},
		{"another pack", good + "\n" + strings.ReplaceAll(whole("1.1.0"), "acme/deploy", "acme/other"), "2:9: the file is for acme/deploy, but this line is for acme/other\n"},
		{"a key twice", with(`"version":`, `"version":"9.0.0","version":`), "1:41: the key \"version\" is duplicated\n"},
		{"yanked", `{"version":"2.0.0","yanked":""}`, "1:12: version \"2.0.0\" is yanked, but no earlier line publishes it\n1:29: yanked must be a reason or false\n"},
		{"withdrawn with content", good + "\n" + with(`"name"`, `"yanked":"x","name"`), "2:1: a line that yanks a version must contain only version and yanked\n"},
		{"a path", with("oci://registry.example/acme/deploy", "path:x"), "1:85: acme/deploy must not have the revision \""},
		{"local", with("oci://registry.example/acme/deploy", "local"), "1:85: acme/deploy 1.0.0: an index cannot refer to the source \"local\"\n"},
		{"a layout outside", with("oci://registry.example/acme/deploy", "oci-layout:../x"), "1:85: layout \"../x\" is outside its index\n"},
		{"a layout", with("oci://registry.example/acme/deploy", "oci-layout:layout"), ""},
		{"a branch", with("oci://registry.example", "git+https://git.example", digest, "main"), "1:132: invalid commit \"main\" of acme/deploy: use 40 hexadecimal digits\n"},
		{"integrity", with(integrity, tree), fmt.Sprintf("1:%d: the integrity is %s, but the skills have the integrity %s\n", place(good, `"t1:`), tree, integrity)},
		{"no integrity", with(`"integrity":"`+integrity+`",`, ""), ""},
		{"a skill's name", with(`"integrity":"`+integrity+`",`, "", `"name":"deploy"`, `"name":"Deploy"`), "1:223: the name \"Deploy\" contains the capital letter D: only a-z, 0-9, and hyphens are allowed\n"},
		{"dependencies", with(`"acme/base":">=1 <3"`, `"base":"1","a/b":"newest","a/c":"latest","a/d":""`, `"~1.3"`, `"newer"`), fmt.Sprintf(
			"1:%d: dependency: invalid pack name \"base\" (use owner/name, such as acme/deploy)\n"+
				"1:%d: invalid version range \"newest\"\n1:%d: invalid version range \"newer\"\n",
			place(good, `"acme/base":`)+7, place(good, `"acme/base":`)+17, place(good, `"acme/base":`)+63)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			problems := index.Check("f", []byte(tt.data))
			if got := show(problems); got != tt.want && (tt.want == "" || strings.HasSuffix(tt.want, "\n") || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
	if problems := index.Check("f", make([]byte, index.MaxBytes+1)); len(problems) != 1 || problems[0].Line != 0 {
		t.Errorf("too large: %v", problems)
	}
	if problems := index.Check("f", []byte(strings.Repeat("{}\n", 5000))); len(problems) < 1000 || len(problems) > 1010 {
		t.Errorf("%d problems", len(problems))
	}
}

func TestCheckConfig(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"version": 1, "title": "x"}`, ""},
		{"{\n  \"title\": \"x\",\n  \"version\": 2\n}", "3:14: unsupported index format version 2; this skillpm supports version 1 (use a newer skillpm)\n"},
		{"{\"title\": \"é\"\n}", "1:1: unsupported index format version 0; this skillpm supports version 1 (use a newer skillpm)\n"},
		{"{\n\"version\": 1,\n}", "3:1: invalid character '}' looking for beginning of object key string\n"},
		{"", "1:1: unexpected end of JSON input\n"},
		{"{\"version\": 1,\n \"title\": 5}", "2:11: title has the wrong type: number\n"},
		{"{\"version\": 1,\n \"version\": 1}", "2:2: the key \"version\" is duplicated\n"},
	} {
		if got := show(index.CheckConfig("config.json", []byte(tt.text))); got != tt.want {
			t.Errorf("%s\ngot  %swant %s", tt.text, got, tt.want)
		}
		if _, err := index.ParseConfig("config.json", []byte(tt.text)); err != nil && tt.want == "" {
			t.Error(err)
		}
	}
}

func TestIDOf(t *testing.T) {
	for _, tt := range []struct{ data, want string }{
		{whole("1.0.0"), "acme/deploy"},
		{"{\n{\"name\":\"Acme\"}\n" + whole("1.0.0"), "acme/deploy"},
		{`{"version":"1.0.0","yanked":"x"}`, ""},
		{"", ""},
	} {
		if id := index.IDOf([]byte(tt.data)); id.IsZero() != (tt.want == "") || !id.IsZero() && id.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.data, id, tt.want)
		}
	}
}

// FuzzCheck compares Check with Parse: Check reports what Parse rejects, at its line, and every position is in the
// text.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(whole("1.0.0") + `{"version":"1.0.0","yanked":"x"}`))
	f.Add([]byte(`{"name":"a/b","Skills":[{"tree":1},[]],"skills":{},"dependencies":{"x":3}}`))
	f.Add([]byte("{\"version\": \"é\",\n}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		problems := index.Check("f", data)
		_, err := index.Parse("f", data)
		if err != nil && !slices.ContainsFunc(problems, func(p index.Problem) bool {
			return strings.HasSuffix(err.Error(), p.Message) && strings.HasPrefix(err.Error(), fmt.Sprintf("f:%d:", p.Line)) || p.Line == 0
		}) {
			t.Fatalf("%q: %v (%s), and\n%s", data, err, diag.HintOf(err), show(problems))
		}
		index.CheckConfig("config.json", data)
		for _, p := range problems {
			if p.Message == "" || p.Line > len(data) || p.Column > len(data)+1 || (p.Line == 0) != (p.Column == 0) {
				t.Fatalf("%q: %+v", data, p)
			}
		}
	})
}

// BenchmarkCheck checks the file of a pack with 200 versions.
func BenchmarkCheck(b *testing.B) {
	var data []byte
	for i := range 200 {
		data = append(data, whole(fmt.Sprintf("1.%d.0", i))...)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if problems := index.Check("f", data); problems != nil {
			b.Fatal(show(problems))
		}
	}
}
