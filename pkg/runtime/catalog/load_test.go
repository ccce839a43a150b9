package catalog_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// TestP6Load checks that stage 2 is read on demand, with the file's content at that time.
func TestP6Load(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- home/.skillpm/skills/a/SKILL.md --
---
name: a
description: d
allowed-tools:
  - Read
  - Bash(git:*)
  - Bash(npm: run)
disallowed-tools: Write, Edit
agent: coder
model: opus
arguments: issue branch
hooks: {pre: scripts/pre.sh, post: scripts/post.sh}
command: python3 run.py
shell: bash
files:
  - {path: doc.md, description: what}
toolsets: [kubectl, git]
execution:
  sandbox: true
  allowed-paths: [./build]
  network: [example.com]
---
The body.
`)
	s, err := w.open().Lookup("a")
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Front{
		AllowedTools: []string{"Read", "Bash(git:*)", "Bash(npm: run)"}, Restricts: true, DisallowedTools: []string{"Write, Edit"},
		Agent: "coder", Model: "opus", Arguments: []string{"issue", "branch"}, Pre: "scripts/pre.sh", Post: "scripts/post.sh",
		Command: "python3 run.py", Shell: "bash", Files: []skill.FileRef{{Path: "doc.md", Description: "what"}}, Toolsets: []string{"kubectl", "git"},
		Execution: catalog.Execution{Sandbox: "true", AllowedPaths: []string{"./build"}, Network: []string{"example.com"}},
	}
	if !reflect.DeepEqual(l.Front, want) {
		t.Errorf("got\n%+v\nwant\n%+v", l.Front, want)
	}
	if l.Body != "The body.\n" || !strings.HasPrefix(l.Source, "---\nname: a\n") || len(l.Digest) != len("sha256:")+64 || l.Skill != s {
		t.Errorf("got %+v", l)
	}
	w.write("home/.skillpm/skills/a/SKILL.md", "---\nname: a\ndescription: d\nallowed-tools: []\n---\nAnother body.\n")
	again, err := s.Load()
	if err != nil || again.Body != "Another body.\n" || again.Digest == l.Digest || !again.Front.Restricts {
		t.Errorf("got %+v, %v", again, err)
	}
	for text, want := range map[string]diag.Code{
		"---\nname: a\ndescription: d\nallowed-tools: [Read\n---\n": diag.Invalid, // what limits it cannot be read any more
		"---\nname: a\n": diag.Invalid,
	} {
		w.write("home/.skillpm/skills/a/SKILL.md", text)
		if _, err := s.Load(); diag.CodeOf(err) != want || diag.HintOf(err) == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(); diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("got %v", err)
	}
	w.link("home/.skillpm/skills/a/SKILL.md", "../../../../cache")
	w.write("cache", "secret")
	if _, err := s.Load(); diag.CodeOf(err) != diag.Invalid || strings.Contains(err.Error(), "secret") {
		t.Errorf("a link that leads out: %v", err)
	}
}

// TestRestricts checks when a list of allowed tools restricts. A list without a value makes the skill unusable, because
// some agents allow every tool then, and some none; only [] is a list without tools.
func TestRestricts(t *testing.T) {
	w := newFixture(t, "omniforge", "")
	open := func(text string) (*catalog.Loaded, error) {
		w.write("home/.skillpm/skills/a/SKILL.md", "---\nname: a\ndescription: d\n"+text+"---\n")
		s, err := w.open().Lookup("a")
		if err != nil {
			return nil, err
		}
		return s.Load()
	}
	for text, want := range map[string]struct {
		restricts bool
		tools     int
	}{
		"": {}, "allowed-tools: []\n": {true, 0}, "allowed-tools: [ ]\n": {true, 0},
		"allowed-tools: Read, Write\n": {true, 1}, "allowed-tools: [Read, Write]\n": {true, 2},
		"x: &t [Read]\nallowed-tools: *t\n": {true, 1}, "allowed-tools:\n  - Bash(npm: run)\n": {true, 1},
		"disallowed-tools:\n": {}, "disallowed-tools: \"\"\n": {}, "disallowed-tools: []\n": {},
	} {
		l, err := open(text)
		if err != nil || l.Front.Restricts != want.restricts || len(l.Front.AllowedTools) != want.tools {
			t.Errorf("%q: %+v, %v", text, l, err)
		}
	}
	for _, value := range []string{
		"", `""`, "''", `" "`, `"\t"`, `"\u00a0"`, "null", "Null", "NULL", "~", "!!null x", "!!str", `!!str ""`, `","`, `", ,"`,
		"&t", "|", "|\n  ", ">-\n\n  ,\n", `[""]`, "[null]", "[~]", `[" "]`, "[,]", `[","]`, `[Read, ""]`, "[[]]", "[[Read]]",
		"[{}]", "[{a: b, c: d}]", "\n  -", "\n  - Read\n  -", "\n  - \"\"", "\n- ''", "\n  - ,", "{}", "{Read: true}",
		"\n  Read: true", "# Read", "\n# - Read", "\nx: &t\ny: *t",
	} {
		if l, err := open("allowed-tools: " + value + "\n"); err == nil {
			t.Errorf("allowed-tools: %s is usable: %+v", value, l.Front)
		}
		text := "allowed-tools: " + value + "\n"
		doc, problems := skill.Parse([]byte("---\n" + text + "---\n"))
		if node, why := doc.UnreadTools("allowed-tools"); node == nil && len(problems) == 0 {
			t.Errorf("%q has no finding %s", text, why)
		}
	}
	for _, value := range []string{"{Bash: true}", "[[Bash]]", "[{}]", "[Bash, null]", "\n  Bash: true"} {
		if l, err := open("disallowed-tools: " + value + "\n"); err == nil {
			t.Errorf("disallowed-tools: %s is usable: %+v", value, l.Front)
		}
	}
}

// TestP11ParseFile reads one file by the rules of a profile.
func TestP11ParseFile(t *testing.T) {
	w := newFixture(t, "kodelet", `
-- x/deploy/SKILL.md --
Deploys.
-- x/bare/SKILL.md --
raw
Only text.
-- x/deploy/README.md --
`)
	s, err := catalog.ParseFile(w.path("x/deploy/SKILL.md"), w.options.Profile)
	if err != nil || s.Name != "deploy" || s.Description != "Deploys." || s.Dir != w.path("x/deploy") {
		t.Errorf("got %+v, %v", s, err)
	}
	if l, err := s.Load(); err != nil || l.Body != "The body.\n" {
		t.Errorf("got %+v, %v", l, err)
	}
	for name, want := range map[string]diag.Code{
		"x/bare/SKILL.md": diag.Invalid, "x/no/SKILL.md": diag.NotFound, "x/deploy/README.md": diag.NotFound, "x/deploy": diag.NotFound,
	} {
		if _, err := catalog.ParseFile(w.path(name), w.options.Profile); diag.CodeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
