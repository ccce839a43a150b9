package lsp

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/skill"
)

func TestOutline(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		want       []string // a line each: its number, the path, the value
	}{
		{"mapping", "name: demo\ndescription: 'Shows: a thing' # c\n", []string{"0 name=demo", "1 description=Shows: a thing"}},
		{"nested", "hooks:\n  pre: a.sh\n  post: b.sh\ntags:\n", []string{"0 hooks=", "1 hooks/pre=a.sh", "2 hooks/post=b.sh", "3 tags="}},
		{"list", "tags:\n  - a\n  - b\n", []string{"0 tags=", "1 tags/0=a", "2 tags/1=b"}},
		{"list that is not indented", "tags:\n- a\n- b\nname: x\n", []string{"0 tags=", "1 tags/0=a", "2 tags/1=b", "3 name=x"}},
		{
			"mappings in a list", "files:\n  - path: a\n    description: A\n  - path: b\n",
			[]string{"0 files=", "1 files/0/path=a", "2 files/0/description=A", "3 files/1/path=b"},
		},
		{
			"lists in lists", "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: x\n        - type: y\n",
			[]string{
				"0 hooks=", "1 hooks/PreToolUse=", "2 hooks/PreToolUse/0/matcher=Bash", "3 hooks/PreToolUse/0/hooks=",
				"4 hooks/PreToolUse/0/hooks/0/type=command", "5 hooks/PreToolUse/0/hooks/0/command=x", "6 hooks/PreToolUse/0/hooks/1/type=y",
			},
		},
		{"text over lines", "a: |\n  b: c\n\n  d: e\nf: g\n", []string{"0 a=|", "4 f=g"}},
		{"plain text over lines", "a: one\n  two: three\nb: c\n", []string{"0 a=one", "2 b=c"}},
		{"item over lines", "a:\n  - one\n    two\n  - three\n", []string{"0 a=", "1 a/0=one", "3 a/1=three"}},
		{"comments", "# x: y\na: # none\n  # more\n  b: c\n", []string{"1 a=", "3 a/b=c"}},
		{"quoted keys", "\"a b\": c\n'd': e\n", []string{"0 a b=c", "1 d=e"}},
		{"being typed", "name: demo\ndescr\nhooks:\n  pr\n", []string{"0 name=demo", "1 descr=", "2 hooks=", "3 hooks/pr="}},
		{"an item being typed", "tags:\n  -\n  - \n", []string{"0 tags=", "1 tags/0=", "2 tags/1="}},
		{"not YAML", "{]\n\t\n: :\nx: y\n", []string{"0 {]=", "2 =:", "3 x=y"}},
		{"a URL is no key", "tags:\n  - https://x.y/z\n", []string{"0 tags=", "1 tags/0=https://x.y/z"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := strings.Split(tt.yaml, "\n")
			var got []string
			for _, e := range newYAMLLines(lines, 0).entries {
				got = append(got, fmt.Sprintf("%d %s=%s", e.line, strings.Join(e.path, "/"), e.text(lines[e.line])))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestBelow(t *testing.T) {
	const text = "name: demo\nhooks:\n  pre: a\nfiles:\n  - path: a\n\ntags:\n- x\n\n"
	for _, tt := range []struct {
		line, column int
		dash         bool
		want         string
	}{
		{0, 0, false, ""},
		{2, 2, false, "hooks"},
		{3, 0, false, ""},
		{3, 2, false, "hooks"},
		{5, 0, false, ""},
		{5, 2, false, "files"},
		{5, 4, false, "files/0"},
		{5, 2, true, "files/1"},
		{8, 0, true, "tags/1"},
		{8, 0, false, ""},
	} {
		o := newYAMLLines(strings.Split(text, "\n"), 0)
		if got := strings.Join(o.pathBelow(tt.line, tt.column, tt.dash), "/"); got != tt.want {
			t.Errorf("%d:%d %v: got %q, want %q", tt.line, tt.column, tt.dash, got, tt.want)
		}
	}
}

// sameKeys requires the outline to find the top-level keys that YAML finds, if a valid document has them on separate
// lines.
func sameKeys(t *testing.T, text string) {
	t.Helper()
	var root yaml.Node
	if strings.ContainsAny(text, "\r\t\u0085\u2028\u2029\uFEFF") || yaml.Unmarshal([]byte(text), &root) != nil || len(root.Content) == 0 {
		return
	}
	m := root.Content[0]
	if m.Kind != yaml.MappingNode || m.Style&yaml.FlowStyle != 0 {
		return
	}
	want := map[int]string{}
	for i := 0; i < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Column != 1 || k.Anchor != "" || k.Tag != "!!str" || strings.ContainsAny(k.Value, "\\\"'?#\n") ||
			v.Kind == yaml.AliasNode || v.Style&yaml.FlowStyle != 0 || strings.Contains(v.Value, "\n") {
			return // more than lines can tell
		}
		want[k.Line-1] = k.Value
	}
	o := newYAMLLines(strings.Split(text, "\n"), 0)
	for n, key := range want {
		e, starts := o.entryAt(n)
		if !starts || e.key != key || len(e.path) != 1 {
			t.Errorf("line %d of %q: got %+v, want the key %q", n, text, e, key)
		}
	}
}

func FuzzOutline(f *testing.F) {
	f.Add("name: demo\nhooks:\n  pre: a\nfiles:\n  - path: a\n    description: b\n", 3)
	f.Add("a: |\n  b\nc: 'd'\n", 9)
	f.Add("- - x: y\n", 2)
	f.Fuzz(func(t *testing.T, text string, at int) {
		sameKeys(t, text)
		d := newDocument("", "/s/SKILL.md", 1, "---\n"+text)
		pl := d.yamlAt(at)
		if pl == nil {
			return
		}
		if pl.column < 0 || pl.column > len(pl.text) {
			t.Fatalf("%q at %d: column %d of %q", text, at, pl.column, pl.text)
		}
		if pl.entry != nil {
			if start, end := pl.wordRange(at); start > end || start < 0 || end > len(d.text.string) {
				t.Errorf("%q at %d: %d to %d", text, at, start, end)
			}
		}
	})
}

// TestDeep checks that endless nesting is parsed up to a depth, and quickly.
func TestDeep(t *testing.T) {
	var nested strings.Builder
	for i := range 1000 {
		nested.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for _, text := range []string{strings.Repeat("- ", 500_000), nested.String(), strings.Repeat("a", 1<<20), strings.Repeat("'", 1<<20)} {
		o := newYAMLLines(strings.Split(text, "\n"), 0)
		for _, e := range o.entries {
			if len(e.path) > maxLevels {
				t.Fatalf("a path of %d steps", len(e.path))
			}
		}
	}
}

// TestOutlineOfCorpus compares the outline of real frontmatter with YAML's. SKILLPM_CORPUS names a directory of skills.
func TestOutlineOfCorpus(t *testing.T) {
	dir := os.Getenv("SKILLPM_CORPUS")
	if dir == "" {
		t.Skip("SKILLPM_CORPUS is not set")
	}
	tree := os.DirFS(dir)
	homes, err := skill.Find(tree, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range homes {
		data, err := fs.ReadFile(tree, home+"/"+skill.File)
		if err != nil {
			continue
		}
		doc, _ := skill.Parse(data)
		sameKeys(t, string(doc.FrontText()))
	}
}
