package skill_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

func kinds(problems []skill.Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%d@%d:%d", p.Kind, p.Line, p.Column))
	}
	return strings.Join(out, " ")
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, in           string
		skill, about, body string
		problems           string // kind@line:column
	}{
		{"well", "---\nname: deploy\ndescription: Deploys.\n---\nBody\n", "deploy", "Deploys.", "Body\n", ""},
		{"quotes", "---\nname: 'de''ploy'\ndescription: \"a: b\"\n---\n", "de'ploy", "a: b", "", ""},
		{"block scalar", "---\nname: deploy\ndescription: >-\n  one\n  two\n---\n", "deploy", "one two", "", ""},
		{"numbers stay text", "---\nname: 1.10\ndescription: 2026-01-02\n---\n", "1.10", "2026-01-02", "", ""},
		{"null is nothing", "---\nname: ~\ndescription:\n---\n", "", "", "", ""},
		{"an alias", "---\nx: &x deploy\nname: *x\n---\n", "deploy", "", "", ""},
		{"spaces after the fence", "--- \nname: deploy\n---\t\nBody", "deploy", "", "Body", ""},
		{"four hyphens are no fence", "----\nname: deploy\n----\n", "", "", "----\nname: deploy\n----\n", "1@1:1"},
		{"crlf", "---\r\nname: deploy\r\n---\r\nBody\r\n", "deploy", "", "Body\r\n", ""},
		{"empty file", "", "", "", "", "1@1:1"},
		{"empty frontmatter", "---\n---\nBody", "", "", "Body", ""},
		{"only comments", "---\n# x\n---\nBody", "", "", "Body", ""},
		{"no frontmatter", "# Title\n", "", "", "# Title\n", "1@1:1"},
		{"a rule is no frontmatter", "Text\n\n---\n\nMore\n", "", "", "Text\n\n---\n\nMore\n", "1@1:1"},
		{"late frontmatter", "\n\n---\nname: deploy\n---\nBody", "deploy", "", "Body", "2@1:1"},
		{"not closed", "---\nname: deploy\n\n# Title\n", "deploy", "", "\n# Title\n", "3@1:1"},
		{"byte order mark", "\ufeff---\nname: deploy\n---\n", "deploy", "", "", "8@1:1"},
		{"not UTF-8", "---\nname: deploy\n---\na\nb\xff\n", "deploy", "", "a\nb\xff\n", "9@5:2"},
		{"a list", "---\n- a\n---\n", "", "", "", "6@2:1"},
		{"twice", "---\nname: a\nname: b\n---\n", "a", "", "", "7@3:1"},
		{"twice below", "---\nm: {a: 1, a: 2}\n---\n", "", "", "", "7@2:11"},
		{"colon in a value", "---\ndescription: Use when: always\nname: deploy\n---\n", "deploy", "Use when: always", "", "4@2:22"},
		{"colon at the end", "---\ndescription: Use when:\nname: deploy\n---\n", "deploy", "Use when:", "", "4@2:22"},
		{"at sign", "---\nname: deploy\ndescription: @x y\n---\n", "deploy", "@x y", "", "4@3:14"},
		{"open quote", "---\nname: deploy\ndescription: \"x y\nlicense: MIT\n---\n", "deploy", "x y", "", "4@3:14"},
		{"open bracket", "---\ntags: [a, b\nname: deploy\n---\n", "deploy", "", "", "4@2:7"},
		{"text after a quote", "---\nname: deploy\ndescription: 'a' b\n---\n", "deploy", "a' b", "", "4@3:18"},
		{"bad escape", "---\nname: deploy\ndescription: \"a\\qb\"\n---\n", "deploy", `a\qb`, "", "4@3:16"},
		{"surrogate pair", "---\nname: deploy\ndescription: \"Locks \\ud83d\\udd10 it\"\n---\n", "deploy", "Locks 🔐 it", "", ""},
		{"half of a surrogate pair", "---\nname: deploy\ndescription: \"Locks \\ud83d it\"\n---\n", "deploy", `Locks \ud83d it`, "", "4@3:21"},
		{"tab", "---\nname: deploy\nmetadata:\n\ta: b\n---\n", "deploy", "", "", "5@4:1"},
		{"a line without a key", "---\nname: deploy\nnonsense\n---\n", "deploy", "", "", "4@3:1"},
		{"two broken fields", "---\na: b: c\nname: deploy\nd: @e\n---\n", "deploy", "", "", "4@2:5 4@4:4"},
		{"column in characters", "---\né日: b: c\nname: deploy\n---\n", "deploy", "", "", "4@2:6"},
		{"a separator that is no line", "---\ndescription: a\u2028b\nname: deploy\nx: y: z\n---\n", "deploy", "a b", "", "4@4:5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, problems := skill.Parse([]byte(tt.in))
			if got := kinds(problems); got != tt.problems {
				t.Errorf("problems %q, want %q: %+v", got, tt.problems, problems)
			}
			if doc.Name() != tt.skill || doc.Description() != tt.about || string(doc.Body()) != tt.body {
				t.Errorf("got %q, %q, %q", doc.Name(), doc.Description(), doc.Body())
			}
		})
	}
}

// TestFields checks T1, D5: the fields that only some profiles know.
func TestFields(t *testing.T) {
	doc, problems := skill.Parse([]byte("---\nname: x\nlicense: MIT\ncompatibility: git\ncommand: python3 run.py\nfiles:\n" +
		"  - {path: a.md, description: A}\n  - b.md\n  - {description: nothing}\n---\n"))
	want := []skill.FileRef{{Path: "a.md", Description: "A"}, {Path: "b.md"}}
	if len(problems) > 0 || !slices.Equal(doc.Files(), want) {
		t.Errorf("got %v, %v", doc.Files(), problems)
	}
	if doc.License() != "MIT" || doc.Compatibility() != "git" || doc.Command() != "python3 run.py" {
		t.Errorf("got %q, %q, %q", doc.License(), doc.Compatibility(), doc.Command())
	}
	k, v := doc.Lookup("license")
	if k.Line != 3 || k.Column != 1 || v.Column != 10 {
		t.Errorf("license is at %d:%d and %d:%d", k.Line, k.Column, v.Line, v.Column)
	}
}

func TestFirstParagraph(t *testing.T) { // P1
	tests := []struct{ in, want string }{
		{"", ""},
		{"# Title\n\nOne\ntwo.\n\nThree.\n", "One two."},
		{"\n---\n<!-- x -->\nOne.", "One."},
		{"# Only\n", ""},
	}
	for _, tt := range tests {
		if got := skill.FirstParagraph([]byte(tt.in)); got != tt.want {
			t.Errorf("FirstParagraph(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestCheckName checks S1: the standard's names.
func TestCheckName(t *testing.T) {
	tests := []struct{ name, want string }{
		{"deploy", ""},
		{"a", ""},
		{"k8s-deploy-2", ""},
		{"123", ""},
		{strings.Repeat("a", 64), ""},
		{strings.Repeat("a", 65), "the limit is 64"},
		{"", "empty"},
		{"Deploy", "capital letter D"},
		{"a_b", "an underscore"},
		{"a b", "a space"},
		{"données", "“é”"},
		{"-a", "starts or ends"},
		{"a-", "starts or ends"},
		{"a--b", "two hyphens"},
		{"a/b", "“/”"},
		{"a\x00", "unprintable"},
	}
	for _, tt := range tests {
		err := skill.CheckName(tt.name)
		if skill.LegalName(tt.name) != (err == nil) {
			t.Errorf("LegalName(%q) disagrees with CheckName", tt.name)
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("CheckName(%q) = %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestSlug(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"deploy", "deploy"},
		{"Deploy To Prod!", "deploy-to-prod"},
		{"--a__b--", "a-b"},
		{"Données", "donnees"},
		{"ﬁle №5", "file-no5"},
		{strings.Repeat("a", 63) + "-b", strings.Repeat("a", 63)},
	}
	for _, tt := range tests {
		if got := skill.Slug(tt.in); got != tt.want {
			t.Errorf("Slug(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := skill.Slug("日本"); !skill.LegalName(got) || got == skill.Slug("中国") {
		t.Errorf("Slug of text without letters: %q", got)
	}
}

func TestFind(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{
		"skills/b/SKILL.md", "skills/a/SKILL.md", "skills/a/nested/SKILL.md", "skills/a-b/SKILL.md", "lower/skill.md", ".git/SKILL.md",
		"node_modules/x/SKILL.md", ".skillpm/plugins/x/SKILL.md", ".claude/skills/c/SKILL.md", "dir/SKILL.md/x", "empty/x",
	} {
		fsys[name] = &fstest.MapFile{}
	}
	tests := []struct{ root, want string }{
		{".", ".claude/skills/c skills/a skills/a-b skills/b"},
		{"skills/a", "skills/a"},
		{"skills/a/nested", "skills/a/nested"},
		{".skillpm", ".skillpm/plugins/x"},
		{"empty", ""},
		{"lower", ""},
	}
	for _, tt := range tests {
		got, err := skill.Find(fsys, tt.root)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("Find(%q) = %q, %v, want %q", tt.root, got, err, tt.want)
		}
	}
	if _, err := skill.Find(fsys, "no"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestLoad(t *testing.T) {
	fsys := fstest.MapFS{
		"a/SKILL.md":    {Data: []byte("---\nname: a\n---\n")},
		"big/SKILL.md":  {Data: make([]byte, skill.MaxFile+1)},
		"pipe/SKILL.md": {Mode: fs.ModeNamedPipe},
	}
	doc, problems, err := skill.Load(fsys, "a")
	if err != nil || doc.Name() != "a" || len(problems) > 0 {
		t.Errorf("got %v, %v, %v", doc, problems, err)
	}
	for dir, want := range map[string]diag.Code{"b": diag.NotFound, "big": diag.Invalid, "pipe": diag.Invalid} {
		if _, _, err := skill.Load(fsys, dir); diag.CodeOf(err) != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestVendored(t *testing.T) {
	record := fstest.MapFS{".skillpm-vendor.json": {}, "deploy/SKILL.md": {}}
	for _, tt := range []struct {
		dir  string
		want bool
	}{
		{"vendor/skills/acme/deploy", true},
		{"third_party/skills/acme/deploy", true},
		{"packages/one/vendor/skills/acme/deploy", true},
		{"/home/me/project/vendor/skills/acme/deploy", true},
		{".claude/skills/acme/deploy", false}, // agents read it
		{"vendor/skills/deploy", false},
		{"skills/acme/deploy", false},
		{".", false},
		{"", false},
	} {
		entries, err := record.ReadDir(".")
		if err != nil {
			t.Fatal(err)
		}
		if got := skill.Vendored(tt.dir, entries); got != tt.want {
			t.Errorf("Vendored(%q) is %v, want %v", tt.dir, got, tt.want)
		}
		if skill.Vendored(tt.dir, nil) {
			t.Errorf("Vendored(%q) without a record", tt.dir)
		}
	}
}
