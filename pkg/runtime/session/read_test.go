package session_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// TestRead checks SPEC P6, T4: stage 3, one complete file of a skill, and only files inside the skill.
func TestRead(t *testing.T) {
	w := newFixture(t, "toolset")
	w.skill("deploy", "", "x\n")
	base := "project/skills/deploy/"
	w.file(base+"references/guide.md", "The guide\x00.\n")
	w.file(base+"scripts/go.sh", "#!/bin/sh\n")
	w.file(base+"large", strings.Repeat("x", 100))
	w.file("project/skills/secret.txt", "secret")
	w.file("project/skills/deploy-other/x", "secret")
	w.env.FileLimit = 64
	for from, to := range map[string]string{"out": "../secret.txt", "abs": filepath.Join(w.dir, "project/skills/secret.txt"), "in": "references/guide.md", "outdir": "..", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(w.dir, base, from)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	for _, tt := range []struct {
		file string
		code diag.Code
		says string // the data, the names, or part of the error
	}{
		{"references/guide.md", diag.OK, "The guide\x00.\n"},
		{"./references//guide.md", diag.OK, "The guide\x00.\n"},
		{`references\guide.md`, diag.OK, "The guide\x00.\n"},
		{filepath.Join(w.dir, base, "references/guide.md"), diag.OK, "The guide\x00.\n"},
		{"in", diag.OK, "The guide\x00.\n"},
		{"references", diag.Invalid, "in the directory: guide.md"},
		{"references/", diag.Invalid, "is a directory"},
		{".", diag.Invalid, "in the directory: SKILL.md, abs, in, large, loop, out, outdir, references/, scripts/"},
		{"scripts/go.sh", diag.OK, "#!/bin/sh\n"}, // this profile reads scripts
		{"large", diag.Invalid, "has 100 bytes; the limit is 64"},
		{"", diag.Denied, "not a path inside"},
		{"../secret.txt", diag.Denied, "not a path inside"},
		{"../deploy-other/x", diag.Denied, "not a path inside"},
		{"references/../../secret.txt", diag.Denied, "not a path inside"},
		{filepath.Join(w.dir, "project/skills/secret.txt"), diag.Denied, "not a path inside"},
		{"/etc/passwd", diag.Denied, "not a path inside"},
		{"a\x00b", diag.Denied, "not a path inside"},
		{"out", diag.Denied, "leads out"},
		{"abs", diag.Denied, "leads out"},
		{"outdir/secret.txt", diag.Denied, "leads out"},
		{"loop", diag.Denied, "leads out"},
		{"references/gide.md", diag.NotFound, "did you mean references/guide.md?"},
		{"guide.md", diag.NotFound, "did you mean references/guide.md?"},
		{"nothing/like/it", diag.NotFound, "files: large, references/guide.md, scripts/go.sh"},
	} {
		f, err := w.open("").Read(t.Context(), "deploy", tt.file)
		if tt.code != diag.OK {
			code(t, err, tt.code, tt.says)
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.file, err)
			continue
		}
		if got := string(f.Data); got != tt.says {
			t.Errorf("%q is %q, want %q", tt.file, got, tt.says)
		}
	}
	_, err := w.open("").Read(t.Context(), "nothing", "x")
	code(t, err, diag.NotFound, "deploy")
}

// TestReadDirectory checks that an agent without its own file tools can find files by the names in a directory.
func TestReadDirectory(t *testing.T) {
	w := newFixture(t, "agentskills")
	w.skill("deploy", "", "x\n")
	w.file("project/skills/deploy/references/guide.md", "The guide.\n")
	w.file("project/skills/deploy/notes.md", "")
	for name, want := range map[string]string{".": "SKILL.md notes.md references/", "references": "guide.md", "references/": "guide.md"} {
		f, err := w.open("").Read(t.Context(), "deploy", name)
		if err != nil || !f.IsDir || strings.Join(f.Names, " ") != want {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// TestUnlisted checks SPEC T2, T3: files that a skill declares but does not have are a warning when it is loaded, are
// not offered, and reveal nothing about the file system.
func TestUnlisted(t *testing.T) {
	w := newFixture(t, "toolset")
	w.skill("deploy", "files: [{path: a.md, description: A}, {path: ./b.md, description: B}, {path: c.md, description: C}, {path: docs, description: D}, {path: ../../secret, description: E}]", "x\n")
	w.file("project/skills/deploy/a.md", "")
	w.file("project/skills/deploy/b.md", "")
	w.file("project/skills/deploy/docs/d.md", "")
	w.file("project/secret", "")
	a, err := w.load("", "deploy", session.Activate{})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range []string{"c.md", "docs", "../../secret"} {
		want = append(want, `skill "deploy" lists the file `+name+", but does not contain the file")
	}
	if !slices.Equal(a.Warnings, want) {
		t.Errorf("%q", a.Warnings)
	}
	if offered := []prompt.File{{Path: "a.md", Description: "A"}, {Path: "b.md", Description: "B"}}; !slices.Equal(a.Files, offered) {
		t.Errorf("offered %v", a.Files)
	}
}

// TestMissingFile checks SPEC O21: a missing file is a clear error, and is recorded for the skill's maintainer.
func TestMissingFile(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "", "See [guide](references/guide.md).\n")
	_, err := w.open("s").Read(t.Context(), "deploy", "references/guide.md")
	code(t, err, diag.NotFound, `skill "deploy" does not contain the file references/guide.md`,
		"the skill contains only SKILL.md; if")
	var missing *session.MissingError
	if !errors.As(err, &missing) || missing.Path != "references/guide.md" {
		t.Errorf("%#v", err)
	}
	if r := w.records(); len(r) != 1 || !strings.HasPrefix(r[0], "reference-missing failed deploy references/guide.md ") {
		t.Errorf("%q", r)
	}
}

// TestScriptsAreRunOnly checks SPEC O4: if scripts can only be run, none can be read: under no spelling, and through no
// link inside the skill.
func TestScriptsAreRunOnly(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "", "x\n")
	base := filepath.Join(w.dir, "project/skills/deploy")
	w.file("project/skills/deploy/scripts/deep/go.sh", "#!/bin/sh\n")
	if err := errors.Join(os.Symlink("scripts/deep/go.sh", filepath.Join(base, "plain.md")), os.Symlink("scripts", filepath.Join(base, "docs"))); err != nil {
		t.Skip("no links here:", err)
	}
	for _, file := range []string{
		"scripts/deep/go.sh", "./scripts/deep/go.sh", "x/../scripts/deep/go.sh", `scripts\deep\go.sh`, "Scripts/deep/go.sh", "plain.md", "docs/deep/go.sh",
		filepath.Join(base, "scripts/deep/go.sh"),
	} {
		_, err := w.open("").Read(t.Context(), "deploy", file)
		code(t, err, diag.Denied, "skillpm run deploy --script")
	}
	if f, err := w.open("").Read(t.Context(), "deploy", "scripts"); err != nil || !slices.Equal(f.Names, []string{"deep/"}) {
		t.Errorf("what there is to run: %+v, %v", f, err)
	}
	if files, err := w.open("").Files(t.Context(), "deploy"); err != nil || len(files) != 0 {
		t.Errorf("%v, %v", files, err)
	}
}

// TestReadOnly checks SPEC K7: no operation on a skill writes into its directory.
func TestReadOnly(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python here")
	}
	w := newFixture(t, "claude-code")
	w.skill("deploy", "hooks: {pre: pre.py}", "x !`true`\n")
	w.file("project/skills/deploy/pre.py", "#!/usr/bin/env python3\nimport helper\n")
	w.file("project/skills/deploy/helper.py", "x = 1\n")
	before := tree(t, filepath.Join(w.dir, "project/skills"))
	if _, err := w.load("s", "deploy", session.Activate{Shell: true}); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]diag.Code{".": diag.OK, "helper.py": diag.OK, "none": diag.NotFound} {
		if _, err := w.open("s").Read(t.Context(), "deploy", file); diag.CodeOf(err) != want {
			t.Errorf("%s: %v", file, err)
		}
	}
	if _, err := w.open("s").End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := tree(t, filepath.Join(w.dir, "project/skills")); !slices.Equal(before, after) {
		t.Errorf("before %q\nafter  %q", before, after)
	}
}

// tree returns the content of a directory, with modification times.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		all = append(all, path+" "+info.Mode().String()+" "+info.ModTime().String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFiles checks SPEC T3: loading a skill returns its files with their descriptions. agentskills lists the existing
// ones.
func TestFiles(t *testing.T) {
	for profile, want := range map[string]string{"toolset": "a.md: What a is", "agentskills": "a.md: |b/c.md: ", "omniforge": ""} {
		w := newFixture(t, profile)
		front := ""
		if profile == "toolset" {
			front = "files: [{path: a.md, description: What a is}]"
		}
		w.skill("deploy", front, "x\n")
		w.file("project/skills/deploy/a.md", "")
		w.file("project/skills/deploy/b/c.md", "")
		w.file("project/skills/deploy/.hidden", "")
		a, err := w.load("", "deploy", session.Activate{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range a.Files {
			got = append(got, f.Path+": "+f.Description)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", profile, got, want)
		}
	}
}

// TestStage2ReadsNothingElse checks SPEC O2: stage 2 reads SKILL.md and no other file of the skill. From then on, its
// restrictions apply and its hooks are recorded.
func TestStage2ReadsNothingElse(t *testing.T) {
	w := newFixture(t, "agentskills")
	w.skill("deploy", "allowed-tools: Read\nhooks: {post: scripts/post.sh}", "See [guide](references/guide.md).\n")
	base := filepath.Join(w.dir, "project/skills/deploy")
	w.file("project/skills/deploy/references/real.md", "")
	w.file("project/skills/deploy/scripts/x", "")
	for _, name := range []string{"references/guide.md", "scripts/post.sh"} { // to open a pipe is to wait for ever
		if out, err := exec.Command("mkfifo", filepath.Join(base, name)).CombinedOutput(); err != nil {
			t.Skip("no pipes here:", string(out))
		}
	}
	w.mustLoad("s", "deploy")
	state, err := w.open("s").State()
	if err != nil || state.Active[0].Post != "scripts/post.sh" || !state.Active[0].Restricts {
		t.Errorf("%+v, %v", state, err)
	}
	if v := w.allow("s", "Write"); v.Allowed {
		t.Error("Write is allowed")
	}
	_, err = w.open("s").Read(t.Context(), "deploy", "references/guide.md")
	code(t, err, diag.Invalid, "not a regular file")
}
