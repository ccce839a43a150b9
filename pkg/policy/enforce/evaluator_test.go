package enforce_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// machine is a machine with three policy files.
type machine struct {
	t       testing.TB
	o       enforce.Options
	project string
	now     time.Time
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	top := t.TempDir()
	m := &machine{t: t, project: filepath.Join(top, "project"), now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	m.o = enforce.Options{
		Files: enforce.Files{
			Paths: scope.Paths{Home: top, Config: filepath.Join(top, "config"), State: filepath.Join(top, "state"), Enterprise: filepath.Join(top, "enterprise")},
			OS:    runtime.GOOS, Admin: os.Getuid(),
		},
		Projects: []string{m.project}, Now: func() time.Time { return m.now },
	}
	for _, dir := range []string{m.project, m.o.Paths.Config, m.o.Paths.Enterprise} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// say writes the policy of a scope; "" removes it.
func (m *machine) say(l policy.Level, text string) {
	m.t.Helper()
	file := m.o.PolicyFile(l, m.project)
	if text == "" {
		_ = os.Remove(file)
		return
	}
	if err := os.WriteFile(file, []byte("version: 1\n"+text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) open() *enforce.Evaluator { return enforce.Open(m.o) }

// tree is a skill with a script that connects.
func tree() fstest.MapFS {
	return fstest.MapFS{
		"SKILL.md":       {Data: []byte("---\nname: tool\ndescription: D.\n---\nDo it.\n"), Mode: 0o644},
		"scripts/run.sh": {Data: []byte("#!/bin/sh\ncurl https://example.com\n"), Mode: 0o755},
	}
}

var tool = enforce.Skill{Name: "tool", Pack: "acme/tools", Source: "oci://registry.example/acme/tools", Dir: "/x/tool"}

// TestUse checks a skill against policies of all scopes (O13, O14, O22).
func TestUse(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		machine, user, project string
		skill                  enforce.Skill
		want                   string // of the error, "" for none
		notes                  int
	}{
		{name: "nothing"},
		{name: "denied by the machine", machine: "skills: {deny: ['tool@acme/*']}", want: "enterprise/policy.yaml:2: skill tool@acme/tools is denied by \"tool@acme/*\""},
		{name: "by the user", user: "skills: {deny: [tool]}", want: "config/policy.yaml:2: skill tool@acme/tools is denied"},
		{name: "by the project", project: "skills: {deny: ['*@acme/tools']}", want: "project/skillpm-policy.yaml:2: skill tool@acme/tools is denied"},
		{name: "in other letters", machine: "skills: {deny: [TOOL]}", want: "is denied"},
		{name: "under another name", machine: "skills: {deny: [tool]}", skill: enforce.Skill{Name: "x", Alias: "y", Declared: "tool"}, want: "skill tool is denied"},
		{name: "another pack's", machine: "skills: {deny: ['tool@evil/*']}"},
		{name: "a pattern of packs and a skill of none", machine: "skills: {deny: ['tool@*/*']}", skill: enforce.Skill{Name: "tool"}},
		{name: "the machine's own skill", machine: "skills: {deny: [tool]}", skill: enforce.Skill{Name: "tool", Machine: true}, want: "is denied"},
		{name: "the machine's own skill, and the user's policy", user: "skills: {deny: [tool]}\nforbid: [scripts]", skill: enforce.Skill{Name: "tool", Machine: true}},
		{name: "the machine's own skill needs no approval", machine: "approve: [scripts]\nsources: {allow: []}\nlint: {fail_on: [SEC]}", skill: enforce.Skill{Name: "tool", Pack: "a/b", Machine: true}},
		{name: "the machine's own skill and what is forbidden", machine: "forbid: [scripts]", skill: enforce.Skill{Name: "tool", Machine: true}, want: "has scripts, which the policy forbids: scripts/run.sh is a script"},
		{name: "a source", machine: "sources: {allow: ['oci://registry.example/other/**']}", want: "is not an allowed source"},
		{name: "belongs to a pack that is not in a lockfile", machine: "sources: {deny: [local]}", skill: enforce.Skill{Name: "tool", Pack: "acme/tools"}, want: "belongs to a pack that is not in a lockfile"},
		{name: "no pack and sources", machine: "sources: {allow: []}", skill: enforce.Skill{Name: "tool"}},
		{name: "forbidden", user: "forbid: [hooks, network-tools]", want: "config/policy.yaml:2: skill tool@acme/tools has network-tools, which the policy forbids: scripts/run.sh:2 reaches example.com with curl"},
		{name: "requires approval", project: "approve: [scripts]", want: "skillpm-policy.yaml:2: skill tool@acme/tools requires approval for scripts (scripts/run.sh is a script): the skill is not approved"},
		{name: "needs none", machine: "approve: [hooks, dynamic-shell]\nforbid: [native-binaries]"},
		{name: "too many files", machine: "limits: {files: 1}", want: "has 2 files; the limit is 1"},
		{name: "too large", machine: "limits: {total_bytes: 60, file_bytes: 50}", want: "is larger than 60 bytes"},
		{name: "too deep", machine: "limits: {depth: 1, path_bytes: 10}", want: "has a path of 14 bytes"},
		{name: "a finding", machine: "lint: {fail_on: [SEC1*]}", want: "has a finding of SEC101, which \"SEC1*\" denies: SKILL.md:3: it is so"},
		{name: "no such finding", machine: "lint: {fail_on: [FM]}"},
		{name: "only observed", machine: "mode: audit\nskills: {deny: [tool]}\nforbid: [scripts]\napprove: [network-tools]", notes: 3},
		{name: "observed and refused", machine: "mode: audit\nforbid: [scripts]", user: "approve: [scripts]", want: "requires approval", notes: 1},
		{name: "an invalid policy of the user", user: "mode: strict", want: "skillpm denies everything"},
		{name: "an invalid policy of the project", project: "mode: strict", want: "skillpm denies everything"},
		{name: "an invalid policy, and the machine's own skill", project: "mode: strict", skill: enforce.Skill{Name: "tool", Machine: true}, want: "skillpm denies everything"},
		// a weaker scope cannot loosen a stronger one
		{name: "looser policies below", machine: "skills: {deny: [tool]}", user: "mode: audit\nskills: {deny: []}", project: "mode: audit\nsources: {allow: [local]}\ndowngrade: allow", want: "enterprise/policy.yaml:2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			m.say(policy.MachineLevel, tt.machine)
			m.say(policy.UserLevel, tt.user)
			m.say(policy.ProjectLevel, tt.project)
			m.o.Lint = func(_ context.Context, _ fs.FS, rules []string) ([]diag.Finding, error) {
				if rules[0] == "SEC1*" {
					return []diag.Finding{{Rule: "SEC101", Path: "SKILL.md", Line: 3, Message: "it is so"}}, nil
				}
				return nil, nil
			}
			s := tt.skill
			if s == (enforce.Skill{}) {
				s = tool
			}
			d, err := m.open().Evaluate(t.Context(), s, tree())
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(filepath.ToSlash(err.Error()), tt.want)) || len(d.Notes) != tt.notes {
				t.Errorf("%v, notes %q, want %q", err, d.Notes, tt.want)
			}
			if code := diag.CodeOf(err); err != nil && code != diag.Denied && code != diag.Invalid || err != nil && diag.HintOf(err) == "" {
				t.Errorf("code %v, hint %q", code, diag.HintOf(err))
			}
		})
	}
}

// TestApprove checks that an approval covers exact files and capabilities, and whose approvals count (O13).
func TestApprove(t *testing.T) {
	m := newMachine(t)
	m.say(policy.MachineLevel, "approve: [scripts, network-tools]")
	use := func(files fs.FS) error {
		_, err := m.open().Evaluate(t.Context(), tool, files)
		return err
	}
	approve := func(l policy.Level, files fs.FS, expires time.Time) {
		t.Helper()
		g := m.open()
		r, err := g.Review(t.Context(), tool, files)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Approve(t.Context(), l, enforce.Approver{By: "ada", Reason: "read \"it\": all", Expires: expires}, r); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error, want string) {
		t.Helper()
		if diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	approve(policy.ProjectLevel, tree(), time.Time{})
	approve(policy.UserLevel, tree(), time.Time{})
	refused(use(tree()), "does not apply to the policy of the machine")
	approve(policy.MachineLevel, tree(), m.now.Add(time.Hour))
	if err := use(tree()); err != nil {
		t.Error(err)
	}
	if d, err := m.open().Evaluate(t.Context(), tool, tree()); err != nil || !d.Until.Equal(m.now.Add(time.Hour)) || len(d.Approvals) != 1 || d.Approvals[0].Reason != `read "it": all` {
		t.Errorf("%+v, %v", d, err)
	}
	other := tree()
	other["scripts/run.sh"].Data = append(other["scripts/run.sh"].Data, '\n')
	refused(use(other), "the files have changed since ada approved the skill on 2026-11-22 (t1:sha256:")
	m.now = m.now.Add(time.Hour)
	refused(use(tree()), "the approval by ada expired on 2026-11-22")
	m.now = m.now.Add(-time.Hour)

	// fewer capabilities than the skill has now
	file := m.o.ApprovalFile(policy.MachineLevel, "")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(string(text), "[scripts, network-tools]", "[scripts]", 1))
	refused(use(tree()), "ada approved the skill for scripts, but not for network-tools")

	// a damaged file approves nothing, and is not overwritten
	write(strings.Replace(string(text), "digest:", "Digest:", 1))
	refused(use(tree()), "skillpm ignores the approvals in this file")
	g := m.open()
	r, _ := g.Review(t.Context(), tool, tree())
	if _, err := g.Approve(t.Context(), policy.MachineLevel, enforce.Approver{By: "ada", Reason: "x"}, r); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("%v", err)
	}
	write(string(text))

	// a file that could not be read again is not written
	today := m.now
	m.now = today.AddDate(8000, 0, 0)
	if _, err := m.open().Approve(t.Context(), policy.MachineLevel, enforce.Approver{By: "ada", Reason: "x"}, r); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("%v", err)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, text) {
		t.Errorf("%s, %v", now, err)
	}
	m.now = today

	// a policy of the machine may let users approve; projects can never approve
	if _, err := g.Revoke(t.Context(), policy.MachineLevel, "acme/tools"); err != nil {
		t.Error(err)
	}
	refused(use(tree()), "does not apply")
	m.say(policy.MachineLevel, "approve: [scripts]\napprovers: user")
	if err := use(tree()); err != nil {
		t.Error(err)
	}
	if _, err := g.Revoke(t.Context(), policy.UserLevel, "tool@acme/tools"); err != nil {
		t.Error(err)
	}
	refused(use(tree()), "does not apply")
	m.say(policy.MachineLevel, "")
	m.say(policy.ProjectLevel, "approve: [scripts]")
	if err := use(tree()); err != nil {
		t.Errorf("the project's for the project's: %v", err)
	}
	if _, err := g.Approve(t.Context(), policy.UserLevel, enforce.Approver{By: "ada"}, r); diag.CodeOf(err) != diag.Usage {
		t.Errorf("without a reason: %v", err)
	}
}

// TestApproveNames checks that an approval is for one skill: not for another skill with the same files. A copy under
// another name counts as the same skill.
func TestApproveNames(t *testing.T) {
	m := newMachine(t)
	m.say(policy.UserLevel, "approve: [scripts]")
	g := m.open()
	r, err := g.Review(t.Context(), tool, tree())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Approve(t.Context(), policy.UserLevel, enforce.Approver{By: "ada", Reason: "r"}, r); err != nil {
		t.Fatal(err)
	}
	other := tool
	other.Pack = "evil/tools"
	if _, err := g.Evaluate(t.Context(), other, tree()); diag.CodeOf(err) != diag.Denied {
		t.Errorf("another pack's: %v", err)
	}
	copied := tree()
	copied["SKILL.md"].Data = []byte("---\nname: tool-2\ndescription: D.\n---\nDo it.\n")
	alias := tool
	alias.Alias = "tool-2"
	if _, err := g.Evaluate(t.Context(), alias, copied); err != nil {
		t.Errorf("a copy under another name: %v", err)
	}
	copied["SKILL.md"].Data = []byte("---\nname: tool-2\ndescription: D.\n---\nDo more.\n")
	if _, err := g.Evaluate(t.Context(), alias, copied); diag.CodeOf(err) != diag.Denied {
		t.Errorf("a copy with another body: %v", err)
	}
}

// TestApproveBeside checks that files in a skill's directory that are not part of the skill are checked against the
// policies, too (O13, O22).
func TestApproveBeside(t *testing.T) {
	m := newMachine(t)
	m.say(policy.MachineLevel, "approve: [scripts, network-tools]")
	approve := func(files fs.FS) {
		t.Helper()
		g := m.open()
		r, err := g.Review(t.Context(), tool, files)
		if err == nil {
			_, err = g.Approve(t.Context(), policy.MachineLevel, enforce.Approver{By: "ada", Reason: "r"}, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	use := func(files fs.FS) error {
		_, err := m.open().Evaluate(t.Context(), tool, files)
		return err
	}
	approve(tree())
	for _, tt := range []struct {
		file, text string
		mode       fs.FileMode
		want       string // "" for one that changes nothing
	}{
		{file: ".DS_Store", text: "\x00\x00\x00\x01Bud1\necho EVIL", want: "an additional file that scripts could use: .DS_Store"},
		{file: "scripts/.run.sh.swp", text: "b0VIM 9.1", want: "an additional file that scripts could use: scripts/.run.sh.swp"},
		{file: "._x", text: "\x00\x05\x16\x07\necho EVIL", want: "an additional file that scripts could use: ._x"},
		{file: "Thumbs.db", want: "an additional file that scripts could use: Thumbs.db"},
		{file: ".git/fsmonitor--daemon.ipc", mode: fs.ModeSocket},
		{file: ".DS_Store", text: "echo EVIL", want: "but the skill's directory now contains an additional file that scripts could use: .DS_Store; remove the additional file, or approve the skill again"},
		{file: "node_modules/lib.sh", text: "echo EVIL", want: "but the skill's directory now contains an additional file that scripts could use: node_modules/lib.sh; remove the additional file, or approve the skill again"},
		{file: "scripts/__pycache__/x.cpython-312.pyc", text: "x", want: "the skill's directory now contains an additional file that scripts could use: scripts/__pycache__/x.cpython-312.pyc"},
		{file: "lib.pyc", text: "x", want: "the skill's directory now contains an additional file that scripts could use: lib.pyc"},
		{file: ".git/x.sh", text: "x", want: "the skill's directory now contains an additional file that scripts could use: .git/x.sh"},
		{file: "node_modules/.bin/x", text: "../x/run.js", mode: fs.ModeSymlink, want: "the skill's directory now contains an additional file that scripts could use: node_modules/.bin/x -> ../x/run.js"},
		{file: "node_modules/x", text: "../../y", mode: fs.ModeSymlink, want: "the link node_modules/x points outside the skill"},
		{file: "node_modules/x", text: "/etc/passwd", mode: fs.ModeSymlink, want: "the link node_modules/x points outside the skill"},
		{file: "node_modules/x", mode: fs.ModeNamedPipe, want: "neither a file nor a directory"},
	} {
		files := tree()
		files[tt.file] = &fstest.MapFile{Data: []byte(tt.text), Mode: tt.mode | 0o644}
		switch err := use(files); {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.file, err)
		case tt.want != "" && (diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q", tt.file, err, tt.want)
		}
	}
	with := func(text string) fs.FS {
		files := tree()
		files["node_modules/lib.sh"] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		return files
	}
	approve(with("true\n"))
	if err := use(with("true\n")); err != nil {
		t.Errorf("approved with what lies beside it: %v", err)
	}
	if err := use(with("curl x\n")); diag.CodeOf(err) != diag.Denied {
		t.Errorf("what lies beside it was changed: %v", err)
	}
	if err := use(tree()); err != nil {
		t.Errorf("approved without it: %v", err)
	}
}

// TestNoPlaces checks that without policy paths, files in the working directory have no effect (O14).
func TestNoPlaces(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{enforce.PolicyName, enforce.ApprovalsName} {
		if err := os.WriteFile(name, []byte("version: 1\nskills: {deny: [tool]}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g := enforce.Open(enforce.Options{})
	if list, err := g.Approvals(); len(g.Policies()) > 0 || len(list) > 0 || err != nil || g.CheckListed(tool) != nil {
		t.Errorf("%v, %v, %v", g.Policies(), list, err)
	}
}

// TestSettings checks that only the strongest scope loosens, and a project never does (O14).
func TestSettings(t *testing.T) {
	const loose = "allowed-tools: grant\nhooks: {unreadable: open}\n"
	for _, tt := range []struct {
		name                   string
		machine, user, project string
		want                   bool
	}{
		{name: "nothing"},
		{name: "the machine's", machine: loose, want: true},
		{name: "the machine's, and others that say nothing of it", machine: loose, user: "forbid: [hooks]", project: "forbid: [hooks]", want: true},
		{name: "the user's", user: loose, want: true},
		{name: "the project's", project: loose},
		{name: "the user's, and a machine that says nothing of it", machine: "forbid: [hooks]", user: loose},
		{name: "all", machine: loose, user: loose, project: loose, want: true},
		{name: "a user who tightens", machine: loose, user: "allowed-tools: restrict\nhooks: {unreadable: closed}\n"},
		{name: "a project that tightens", user: loose, project: "allowed-tools: restrict\nhooks: {unreadable: closed}\n"},
		{name: "one that can't be read", user: loose, project: "x: y"},
	} {
		m := newMachine(t)
		m.say(policy.MachineLevel, tt.machine)
		m.say(policy.UserLevel, tt.user)
		m.say(policy.ProjectLevel, tt.project)
		if g := m.open(); g.Grants() != tt.want || g.HooksOpen() != tt.want {
			t.Errorf("%s: %v, %v", tt.name, g.Grants(), g.HooksOpen())
		}
	}
}

// TestLog checks that the machine or the user sets the path of the log, and never a project, and that any scope can
// require the log. The reported policy is the one that requires the log, or else sets its path.
func TestLog(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are those of Unix")
	}
	for _, tt := range []struct {
		machine, user, project string
		path                   string
		required               bool
		by                     []policy.Level // one, or none
	}{
		{},
		{project: "audit: {path: /home/ada/.bashrc, required: true}", required: true, by: []policy.Level{policy.ProjectLevel}},
		{
			user: "audit: {path: /u}", project: "audit: {path: /p, required: true}", path: "/u", required: true,
			by: []policy.Level{policy.ProjectLevel},
		},
		{
			machine: "audit: {path: /m, required: true}", user: "audit: {path: /u}", path: "/m", required: true,
			by: []policy.Level{policy.MachineLevel},
		},
		{machine: "audit: {path: /m}", user: "audit: {path: /u, required: false}", path: "/m", by: []policy.Level{policy.MachineLevel}},
		{machine: "audit: {required: true}", user: "audit: {path: /u}", path: "/u", required: true, by: []policy.Level{policy.MachineLevel}},
		{machine: "audit: {team: a}", user: "audit: {path: /u}", path: "/u", by: []policy.Level{policy.UserLevel}},
		{machine: "audit: {team: a}", user: "audit: {required: true}", required: true, by: []policy.Level{policy.UserLevel}},
		{machine: "audit: {team: a}"},
	} {
		m := newMachine(t)
		m.say(policy.MachineLevel, tt.machine)
		m.say(policy.UserLevel, tt.user)
		m.say(policy.ProjectLevel, tt.project)
		by := ""
		for _, level := range tt.by {
			by = m.o.PolicyFile(level, m.project) + ":2"
		}
		if l := m.open().Log(); l.Path != tt.path || l.Required != tt.required || l.By != by {
			t.Errorf("%+v: %+v", tt, l)
		}
	}
}

// TestReload checks that the next evaluation sees changes on disk, even if only the time or the owner differs.
func TestReload(t *testing.T) {
	m := newMachine(t)
	g := m.open()
	if g.Reload() {
		t.Error("nothing has changed")
	}
	if err := g.CheckActive(tool); err != nil {
		t.Error(err)
	}
	if _, changed, err := m.open().Deny(t.Context(), policy.UserLevel, "tool"); err != nil || !changed {
		t.Fatal(err)
	}
	if err := g.CheckActive(tool); diag.CodeOf(err) != diag.Denied {
		t.Errorf("%v", err)
	}
	if _, err := m.open().Undeny(t.Context(), policy.UserLevel, "tool"); err != nil {
		t.Fatal(err)
	}
	if err := g.CheckActive(tool); err != nil {
		t.Error(err)
	}
	m.say(policy.ProjectLevel, "mode: strict")
	if err := g.CheckActive(tool); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("%v", err)
	}
}

// TestMachineFiles checks that machine policies count only if just the administrator can write them, and if they are
// not links (O14).
func TestMachineFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files there have no owner that is looked at")
	}
	for name, spoil := range map[string]func(m *machine, dir string) error{
		"another owner":         func(m *machine, _ string) error { m.o.Admin++; return nil },
		"writable by the group": func(_ *machine, dir string) error { return os.Chmod(filepath.Join(dir, "policy.yaml"), 0o664) },
		"writable by all":       func(_ *machine, dir string) error { return os.Chmod(filepath.Join(dir, "policy.yaml"), 0o646) },
		"a directory for all":   func(_ *machine, dir string) error { return os.Chmod(dir, 0o777) },
		"a directory, no file": func(_ *machine, dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "policy.yaml")), os.Mkdir(filepath.Join(dir, "policy.yaml"), 0o755))
		},
		"a link": func(_ *machine, dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "p")), os.Symlink("p", filepath.Join(dir, "policy.yaml")))
		},
		"a link that leads away": func(_ *machine, dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "policy.yaml")), os.Symlink("/nowhere", filepath.Join(dir, "policy.yaml")))
		},
	} {
		m := newMachine(t)
		m.say(policy.MachineLevel, "mode: audit")
		if err := spoil(m, m.o.Paths.Enterprise); err != nil {
			t.Fatal(err)
		}
		if _, err := m.open().Evaluate(t.Context(), tool, tree()); err == nil || !strings.Contains(err.Error(), "skillpm denies everything") {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := newMachine(t)
	m.say(policy.MachineLevel, "approve: [scripts]")
	g := m.open()
	r, _ := g.Review(t.Context(), tool, tree())
	file, err := g.Approve(t.Context(), policy.MachineLevel, enforce.Approver{By: "root", Reason: "r"}, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Evaluate(t.Context(), tool, tree()); err == nil || !strings.Contains(err.Error(), "other users can write") {
		t.Errorf("approvals that all may write: %v", err)
	}
}

// TestLook checks that an unreadable skill is refused if a policy needs to scan it, and that a change between the scan
// and the use is found.
func TestLook(t *testing.T) {
	m := newMachine(t)
	m.say(policy.UserLevel, "forbid: [hooks]")
	g := m.open()
	bad := tree()
	bad["link"] = &fstest.MapFile{Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink | 0o777}
	if _, err := g.Evaluate(t.Context(), tool, bad); diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), "could not be checked against the policy") {
		t.Errorf("a link: %v", err)
	}
	if _, err := g.Evaluate(t.Context(), tool, nil); diag.CodeOf(err) != diag.Denied {
		t.Errorf("no files: %v", err)
	}
	d, err := g.Evaluate(t.Context(), tool, tree())
	if err != nil || bundle.CheckDigest(d.Digest) != nil {
		t.Fatal(d.Digest, err)
	}
	if err := d.Check("SKILL.md", tree()["SKILL.md"].Data); err != nil {
		t.Error(err)
	}
	if err := d.Check("SKILL.md", []byte("else")); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m.say(policy.UserLevel, "lint: {fail_on: [SEC]}")
	m.o.Lint = func(ctx context.Context, _ fs.FS, _ []string) ([]diag.Finding, error) { return nil, ctx.Err() }
	if _, err := m.open().Evaluate(ctx, tool, tree()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestExplain checks that explanations match decisions.
func TestExplain(t *testing.T) {
	m := newMachine(t)
	m.say(policy.MachineLevel, "skills: {deny: ['x@a/b']}\nsources: {allow: ['oci://registry.example/**']}\nlimits: {files: 10}\nforbid: [hooks]\napprove: [scripts]")
	m.say(policy.UserLevel, "mode: audit\nforbid: [scripts]")
	g := m.open()
	var got []string
	for _, r := range g.Explain(t.Context(), tool, tree()) {
		got = append(got, fmt.Sprintf("%s %s %s:%d", r.Verdict, r.Rule, r.Level, r.Line))
	}
	want := "allows skills.deny machine:2, allows sources machine:3, denies lockfile machine:3, allows limits machine:4, allows forbid machine:5, would deny forbid user:3, denies approve machine:6"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
	if r := g.ExplainSource("oci://evil.example/x/y"); len(r) != 1 || r[0].Verdict != enforce.Denies || r[0].Line != 3 {
		t.Errorf("%+v", r)
	}
	if r := g.Explain(t.Context(), tool, nil); r[2].Verdict != enforce.NotApplicable {
		t.Errorf("%+v", r)
	}
}

// TestConcurrent checks that concurrent denials and approvals are all kept.
func TestConcurrent(t *testing.T) {
	m := newMachine(t)
	const n = 16
	errs := make(chan error, n)
	for i := range n {
		go func() {
			_, _, err := m.open().Deny(context.WithoutCancel(t.Context()), policy.UserLevel, policy.SkillPattern(fmt.Sprintf("skill-%d", i)))
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if set := m.open().Policies(); len(set) != 1 || len(set[0].Skills.Deny) != n {
		t.Errorf("%+v", set)
	}
}

// TestCheckIncrease checks that an approval of exactly the new files accepts an update with more capabilities, if it
// counts for the policy (O14).
func TestCheckIncrease(t *testing.T) {
	m := newMachine(t)
	m.say(policy.MachineLevel, "updates: {capability-increase: ask}")
	g := m.open()
	r, err := g.Review(t.Context(), tool, tree())
	if err != nil || len(r.Required) != 1 || r.Required[0].Line != 2 || r.Required[0].Accepts(policy.UserLevel) {
		t.Fatalf("%+v, %v", r.Required, err)
	}
	check := func(want string, skills ...string) {
		t.Helper()
		trees := map[string]string{}
		for _, name := range skills {
			trees[name] = r.Digest
		}
		_, err := m.open().CheckIncrease(enforce.Increase{
			What: "acme/tools", Why: "runs curl", Trees: trees, Reference: "acme/tools@1.1.0",
		})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	approve := func(l policy.Level) {
		t.Helper()
		by := enforce.Approver{By: "ada", Reason: "r", Expires: m.now.Add(time.Hour)}
		if _, err := m.open().Approve(t.Context(), l, by, r); err != nil {
			t.Fatal(err)
		}
	}
	const missing = "without consent: runs curl"
	check(missing, "tool@acme/tools")
	approve(policy.ProjectLevel)
	approve(policy.UserLevel)
	check(missing, "tool@acme/tools")
	approve(policy.MachineLevel)
	check("", "tool@acme/tools")
	check(missing, "tool@acme/tools", "other@acme/tools")
	m.say(policy.ProjectLevel, "updates: {capability-increase: deny}")
	check("which the policy denies", "tool@acme/tools")
	m.say(policy.ProjectLevel, "")
	m.now = m.now.Add(time.Hour)
	check(missing, "tool@acme/tools")
	m.now = m.now.Add(-time.Hour)
	r.Digest = "t1:sha256:" + strings.Repeat("0", 64)
	check(missing, "tool@acme/tools")

	file := m.o.ApprovalFile(policy.MachineLevel, "")
	if err := os.WriteFile(file, []byte("version: 1\napproval: []\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("skillpm ignores the approvals in this file", "tool@acme/tools")
}
