package lint_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// applyFixes applies the safe edits of a tree until there are none left.
func applyFixes(t testing.TB, fsys fstest.MapFS, profiles ...string) lint.Report {
	t.Helper()
	o := lint.Options{Edits: true}
	for _, id := range profiles {
		p, err := profile.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		o.Profiles = append(o.Profiles, p)
	}
	for range 8 {
		r, err := lint.Run(context.Background(), fsys, []string{"."}, o)
		if err != nil {
			t.Fatal(err)
		}
		edits := map[string][]diag.Edit{}
		for _, f := range r.Findings {
			if !f.Fixable {
				continue
			}
			if len(f.Edits) == 0 {
				t.Fatalf("fixable without edits: %+v", f)
			}
			for _, e := range f.Edits {
				edits[e.Path] = append(edits[e.Path], e)
			}
		}
		if len(edits) == 0 {
			return r
		}
		for name, list := range edits {
			file := fsys[name]
			data, _ := lint.Apply(file.Data, list)
			mode := file.Mode
			for _, e := range list {
				if e.Executable {
					mode |= 0o111
				}
			}
			fsys[name] = &fstest.MapFile{Data: data, Mode: mode}
		}
	}
	t.Fatal("mending does not end")
	return lint.Report{}
}

func TestMend(t *testing.T) {
	for _, tt := range []struct {
		name, profile string
		before, after string // the frontmatter's lines, in deploy/SKILL.md
	}{
		{"a colon in a value", "", "name: deploy\ndescription: Deploys: fast\n", "name: deploy\ndescription: \"Deploys: fast\"\n"},
		{"a quote and a colon", "", "name: deploy\ndescription: Say \"go\": it goes\n", "name: deploy\ndescription: 'Say \"go\": it goes'\n"},
		{"an at sign", "", "name: deploy\ndescription: @all read this\n", "name: deploy\ndescription: \"@all read this\"\n"},
		{
			"metadata", "", "name: deploy\ndescription: D.\nmetadata:\n  version: 1.10 # of today\n  date: 2026-01-02\n  draft: true\n",
			"name: deploy\ndescription: D.\nmetadata:\n  version: \"1.10\" # of today\n  date: \"2026-01-02\"\n  draft: \"true\"\n",
		},
		{"a number for a text", "", "name: deploy\ndescription: 42\n", "name: deploy\ndescription: \"42\"\n"},
		{"tools as a list", "", "name: deploy\ndescription: D.\nallowed-tools: [Read, 'Bash(git:*)']\n", "name: deploy\ndescription: D.\nallowed-tools: Read Bash(git:*)\n"},
		{
			"tools as a list of lines", "", "name: deploy\nallowed-tools:\n  - Read\n  - Bash(gh pr:*)\ndescription: D.\n",
			"name: deploy\ndescription: D.\nallowed-tools: Read Bash(gh pr:*)\n",
		},
		{"tools with commas", "", "name: deploy\ndescription: D.\nallowed-tools: Read, Bash(git:*) # both\n", "name: deploy\ndescription: D.\nallowed-tools: Read Bash(git:*) # both\n"},
		{"tools with spaces", "pegasus", "name: deploy\ndescription: D.\nallowed-tools: Read Write\n", "name: deploy\ndescription: D.\nallowed-tools: Read, Write\n"},
		{"no name", "", "description: D.\n", "name: deploy\ndescription: D.\n"},
		{"bold text", "", "name: deploy\ndescription: **Deploys** it\n", "name: deploy\ndescription: \"**Deploys** it\"\n"},
		{"quoted words", "", "name: deploy\ndescription: \"a\" b: c\n", "name: deploy\ndescription: '\"a\" b: c'\n"},
		{"a bracket", "", "name: deploy\ndescription: [a\n", "name: deploy\ndescription: \"[a\"\n"},
		{
			"a colon below", "", "name: deploy\ndescription: Deploys: fast\n  and: more\n",
			"name: deploy\ndescription: >-\n  Deploys: fast\n  and: more\n",
		},
		{
			"bullets", "claude-code", "name: deploy\ndescription: D.\nallowed-tools:\n* Read\n* Write\n",
			"name: deploy\ndescription: D.\nallowed-tools:\n- Read\n- Write\n",
		},
		{
			"order, with comments", "", "# of the project\nlicense: MIT # free\n\n# what it does\ndescription: >\n  D.\nname: deploy\n",
			"# of the project\nname: deploy\n# what it does\ndescription: >\n  D.\nlicense: MIT # free\n\n",
		},
		{"a path with a dot", "toolset", "name: deploy\ndescription: D.\nfiles: [{path: ./a.md, description: A}]\n", "name: deploy\ndescription: D.\nfiles: [{path: a.md, description: A}]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := tree("-- deploy/SKILL.md\n---\n" + tt.before + "---\nSee [a](a.md).\n-- deploy/a.md\nA\n")
			ids := []string{}
			if tt.profile != "" {
				ids = append(ids, tt.profile)
			}
			applyFixes(t, fsys, ids...)
			if got := string(fsys["deploy/SKILL.md"].Data); got != "---\n"+tt.after+"---\nSee [a](a.md).\n" {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.after)
			}
		})
	}
}

func TestMendFiles(t *testing.T) {
	fsys := fstest.MapFS{
		"deploy/SKILL.md":     {Data: []byte("\ufeff---\r\nname: deploy\r\ndescription: D.\r\n---\r\nRun `./scripts/a.sh now` and scripts/b.py, scripts/c.sh.\r\nThe end")},
		"deploy/scripts/a.sh": {Data: []byte("#!/bin/sh\r\necho a\r\n"), Mode: 0o644},
		"deploy/scripts/b.py": {Data: []byte("\ufeff#!/usr/bin/env python3\nprint(1)"), Mode: 0o755},
		"deploy/scripts/c.sh": {Data: []byte("echo c\r\n"), Mode: 0o644},
	}
	r := applyFixes(t, fsys)
	for name, want := range map[string]string{
		"deploy/SKILL.md":     "---\r\nname: deploy\r\ndescription: D.\r\n---\r\nRun `./scripts/a.sh now` and scripts/b.py, scripts/c.sh.\r\nThe end\r\n",
		"deploy/scripts/a.sh": "#!/bin/sh\necho a\n",
		"deploy/scripts/b.py": "#!/usr/bin/env python3\nprint(1)\n",
		"deploy/scripts/c.sh": "echo c\n",
	} {
		if got := string(fsys[name].Data); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if fsys["deploy/scripts/a.sh"].Mode&0o111 == 0 || fsys["deploy/scripts/c.sh"].Mode&0o111 != 0 {
		t.Error("the executable bits are wrong")
	}
	for _, f := range r.Findings {
		if f.Fixable {
			t.Errorf("left: %+v", f)
		}
	}
}

// TestMendLeaves checks that fixes do not touch findings that need a human decision.
func TestMendLeaves(t *testing.T) {
	for _, front := range []string{
		"name: deploy\ndescription: Deploys: fast # and more\n",                             // a comment, or text
		"name: deploy\ndescription: Deploys: fast\n  and: more\n   at: night\n",             // not one paragraph
		"name: deploy\ndescription: D.\nallowed-tools: # why\n  - Read # this\n  - Write\n", // comments would be lost
		"name: deploy\ndescription: \"C:\\new\\dir\"\n",                                     // \n may be a line break
		"name: deploy\nallowed-tools: [Read\ndescription: D.\n",                             // a list, or text
		"name: Deploy\ndescription: D.\n",                                                   // names are public
		"name: 'other'\ndescription: D.\n",
		"name: Deploy It\ndescription: D.\nname: deploy\n",
		"{name: deploy, description: 3: 4}\n",
	} {
		fsys := tree("-- deploy/SKILL.md\n---\n" + front + "---\nText\n")
		applyFixes(t, fsys)
		if got := string(fsys["deploy/SKILL.md"].Data); !strings.Contains(got, front) && !strings.HasPrefix(front, "name: Deploy It") {
			t.Errorf("got:\n%s\nwant it left:\n%s", got, front)
		}
	}
}

// TestRenames checks rows S1 and M1: renames are suggestions, which are refused if another skill has or would get the
// name, if a skill refers to the old name, and if the directory should be renamed instead.
func TestRenames(t *testing.T) {
	skillOf := func(dir, name, body string) string {
		return "-- " + dir + "/SKILL.md\n---\nname: " + name + "\ndescription: Use " + dir + ".\n---\n" + body + "\n"
	}
	for _, tt := range []struct{ name, tree, want string }{
		{"capitals", skillOf("deploy", "Deploy", "Text"), "deploy/SKILL.md: d"},
		{"another name", skillOf("deploy", "roll-out", "Text"), "deploy/SKILL.md: deploy"},
		{"a reference", skillOf("deploy", "roll-out", "Text") + skillOf("other", "other", "Use the `roll-out` skill."), ""},
		{"another skill has the name", skillOf("a/deploy", "roll-out", "Text") + skillOf("b/ship", "deploy", "Text"), "b/ship/SKILL.md: ship"},
		{"two would get the name", skillOf("a/deploy", "one", "Text") + skillOf("b/deploy", "two", "Text"), ""},
		{"the name has more words", skillOf("deploy", "web-deploy", "Text"), ""},
		{"a generic directory", skillOf("a/template", "deploy", "Text"), ""},
		{"a generic directory and an invalid name", skillOf("a/template", "Deploy", "Text"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := lint.Run(context.Background(), tree(tt.tree), []string{"."}, lint.Options{Edits: true})
			if err != nil {
				t.Fatal(err)
			}
			got, found := "", false
			for _, f := range r.Findings {
				if f.Rule != "FM017" && f.Rule != "FM018" {
					continue
				}
				found = true
				if f.Fixable {
					t.Errorf("a rename is safe: %+v", f)
				}
				if lint.IsRename(f) {
					got += f.Path + ": " + f.Edits[0].Text
				}
			}
			if got != tt.want || !found {
				t.Errorf("got %q, want %q: %+v", got, tt.want, r.Findings)
			}
		})
	}
}

// FuzzMend checks that fixing ends, that unrelated content stays, and that a second run changes nothing.
func FuzzMend(f *testing.F) {
	f.Add("name: deploy\ndescription: a: b\n", "Text")
	f.Add("allowed-tools: [a, b]\nname: X # y\n", "")
	f.Add("# c\ndescription: @x\n\nname: 'a'\nmetadata: {a: 1, b: 2026-01-02}\n", "\ufeff")
	f.Add("license: &a MIT\nname: *a\ndescription: |\n  x\n", "x\r\ny")
	f.Fuzz(func(t *testing.T, front, body string) {
		fsys := fstest.MapFS{"deploy/SKILL.md": {Data: []byte("---\n" + front + "---\n" + body)}}
		broken := func(f diag.Finding) bool { return f.Rule == "FM003" } // hides other findings
		before := mustRun(t, fsys).Findings
		left := applyFixes(t, fsys)
		if len(left.Findings) > len(before) && !slices.ContainsFunc(before, broken) {
			t.Errorf("%d findings became %d: %q", len(before), len(left.Findings), fsys["deploy/SKILL.md"].Data)
		}
		once := slices.Clone(fsys["deploy/SKILL.md"].Data)
		applyFixes(t, fsys)
		if !slices.Equal(once, fsys["deploy/SKILL.md"].Data) {
			t.Errorf("twice: %q, %q", once, fsys["deploy/SKILL.md"].Data)
		}
	})
}

func mustRun(t testing.TB, fsys fs.FS) lint.Report {
	t.Helper()
	r, err := lint.Run(context.Background(), fsys, []string{"."}, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMendOrderLeaves checks that fields stay if a reordering would change their meaning: references, multi-line values
// that look like comments, unclosed frontmatter, and comments that depend on their position.
func TestMendOrderLeaves(t *testing.T) {
	for _, text := range []string{
		"---\nlicense: &x foo\nname: deploy\ndescription: *x\n---\nText\n",
		"---\nlicense: \"a\n# b\"\nname: deploy\ndescription: x\n---\nText\n",
		"---\nlicense: x\ndescription: foo\nname: deploy",
		"---\n# skillpm-ignore FM011: ours\nfoo: x\nname: deploy\ndescription: x\n---\nText\n",
		"---\nname: deploy\ndescription: x\nallowed-tools: &t [Read, Write]\nmetadata: {a: *t}\n---\nText\n",
	} {
		fsys := fstest.MapFS{"deploy/SKILL.md": {Data: []byte(text)}}
		applyFixes(t, fsys)
		if got := strings.TrimSuffix(string(fsys["deploy/SKILL.md"].Data), "\n"); got != strings.TrimSuffix(text, "\n") {
			t.Errorf("got:\n%s\nwant:\n%s", got, text)
		}
	}
}

// TestMendLeavesUTF16 checks that a file in another encoding stays unchanged, because offsets in the converted text do
// not fit the file.
func TestMendLeavesUTF16(t *testing.T) {
	page := []byte("\xff\xfex\x00 \x00y\x00 \x00n\x00o\x00 \x00e\x00n\x00d\x00")
	fsys := fstest.MapFS{"deploy/SKILL.md": {Data: []byte(head + "[n](n.md)\n")}, "deploy/n.md": {Data: page}}
	applyFixes(t, fsys)
	if got := fsys["deploy/n.md"].Data; string(got) != string(page) {
		t.Errorf("got %q", got)
	}
}
