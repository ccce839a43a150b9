package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// TestTriggersOfRuns checks SPEC P9: running a skill's command counts as activating it, and so does running a script of
// an inactive one.
func TestTriggersOfRuns(t *testing.T) {
	w := newFixture(t, "claude-code")
	for name, front := range map[string]string{"manual": "disable-model-invocation: true", "quiet": "user-invocable: false"} {
		w.skill(name, front+"\ncommand: scripts/go.sh", "x\n")
		w.file("project/skills/"+name+"/scripts/go.sh", "#!/bin/sh\necho ran\n")
	}
	for _, tt := range []struct {
		session, name, script string
		trigger               session.Trigger
		want                  diag.Code
	}{
		{"", "manual", "", "", diag.Denied},
		{"", "manual", "", session.Model, diag.Denied},
		{"", "manual", "", session.User, diag.OK},
		{"", "quiet", "", session.Model, diag.OK},
		{"", "quiet", "", session.User, diag.Denied},
		{"", "manual", "go.sh", session.Model, diag.OK}, // nothing is kept: it may be active
		{"s", "manual", "go.sh", session.Model, diag.Denied},
		{"s", "manual", "go.sh", session.User, diag.OK},
		{"", "quiet", "", "cron", diag.Usage},
	} {
		begun := false
		res, err := w.open(tt.session).Run(t.Context(), tt.name, session.RunOptions{
			Script: tt.script, Trigger: tt.trigger, Begin: func(*catalog.Skill) { begun = true },
		})
		if diag.CodeOf(err) != tt.want || begun != (err == nil) || err == nil && string(res.Stdout) != "ran\n" {
			t.Errorf("%+v: %v, begun %t", tt, err, begun)
		}
	}
	if r := w.records(); !slices.ContainsFunc(r, func(r string) bool { return strings.HasPrefix(r, "run denied manual") }) {
		t.Errorf("the refusal is not recorded: %q", r)
	}
	if _, err := w.load("s", "manual", session.Activate{Trigger: session.User}); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"", "go.sh"} { // the user had it activated
		if _, err := w.open("s").Run(t.Context(), "manual", session.RunOptions{Script: script}); err != nil {
			t.Errorf("%q of an active skill: %v", script, err)
		}
	}
}

// TestScriptsAndTheStack checks SPEC O10: a script runs only if every other active skill allows the shell tool to run
// it.
func TestScriptsAndTheStack(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("reader", "allowed-tools: Read", "x\n")
	w.skill("runner", "allowed-tools: Read, Bash", "x\n")
	w.skill("other", "command: scripts/go.sh", "x\n")
	for _, name := range []string{"reader", "other"} {
		w.file("project/skills/"+name+"/scripts/go.sh", "#!/bin/sh\necho ran\n")
	}
	do := func(id, name string) error {
		_, err := w.open(id).Run(t.Context(), name, session.RunOptions{Script: "go.sh"})
		return err
	}
	w.mustLoad("s", "reader")
	if err := do("s", "reader"); err != nil {
		t.Errorf("its own script: %v", err)
	}
	code(t, do("s", "other"), diag.Denied, `skill "other"`, "skill reader allows Read", "end skill reader")
	w.nest("s", "other") // to nest it allows it nothing more
	code(t, do("s", "other"), diag.Denied, "skill reader allows Read")
	w.mustLoad("t", "runner")
	if err := do("t", "other"); err != nil {
		t.Errorf("where the shell tool is allowed: %v", err)
	}
}

// TestBegin checks that the loading notice comes when all checks have passed, and before the hook.
func TestBegin(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "hooks: {pre: pre.sh, post: pre.sh}", "x\n")
	w.skill("manual", "disable-model-invocation: true", "x\n")
	w.file("project/skills/deploy/pre.sh", "#!/bin/sh\nexit 3\n")
	var said []string
	begin := func(k *catalog.Skill) { said = append(said, k.Name) }
	for _, name := range []string{"manual", "none", "deploy"} {
		if _, err := w.load("s", name, session.Activate{Begin: begin}); err == nil {
			t.Errorf("%s is active", name)
		}
	}
	if !slices.Equal(said, []string{"deploy"}) {
		t.Errorf("loading: %v", said)
	}
	w.file("project/skills/deploy/pre.sh", "#!/bin/sh\nexit 0\n")
	if a := w.mustLoad("", "deploy"); len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "does not run without a session") {
		t.Errorf("%q", a.Warnings)
	}
}

// TestRefusalOfOneOfTwo checks that a refusal names the exact skill and the session, so that the user can type them.
func TestRefusalOfOneOfTwo(t *testing.T) {
	w := newFixture(t, "omniforge")
	for _, pack := range []string{"acme", "globex"} {
		w.file("project/.skillpm/plugins/"+pack+"/x/deploy/SKILL.md", "---\nname: deploy\ndescription: "+pack+"'s.\nallowed-tools: Read, Write\n---\n"+pack+"\n")
	}
	w.skill("tight", "allowed-tools: Read", "x\n")
	w.mustLoad("s", "deploy@acme/x")
	w.nest("s", "deploy@globex/x")
	v := w.allow("s", "Bash")
	code(t, v.Err(), diag.Denied, "deploy@acme/x allows", "use only the allowed tools: Read, Write")
	if r := w.records(); !strings.Contains(r[len(r)-1], "refuse denied deploy") {
		t.Errorf("%q", r)
	}
	if v := w.allow("nobody", "Bash"); v.Known || !v.Allowed || v.Session != "nobody" {
		t.Errorf("%+v", v)
	}
}

// TestPluginRoot checks that a variable has the same meaning in texts and in commands.
func TestPluginRoot(t *testing.T) {
	w := newFixture(t, "claude-code")
	front := "hooks: {pre: pre.sh}\n"
	hook := "#!/bin/sh\necho \"${CLAUDE_PLUGIN_ROOT-unset}\" > " + w.dir + "/root\n"
	w.skill("mine", front, "${CLAUDE_PLUGIN_ROOT}\n")
	w.file("project/skills/mine/pre.sh", hook)
	w.file("project/.skillpm/plugins/acme/x/theirs/SKILL.md", "---\nname: theirs\ndescription: x\n"+front+"---\n${CLAUDE_PLUGIN_ROOT}\n")
	w.file("project/.skillpm/plugins/acme/x/theirs/pre.sh", hook)
	for name, want := range map[string][2]string{
		"mine":          {"${CLAUDE_PLUGIN_ROOT}", "unset"},
		"theirs@acme/x": {filepath.Join(w.dir, "project/.skillpm/plugins/acme/x"), filepath.Join(w.dir, "project/.skillpm/plugins/acme/x")},
	} {
		a := w.mustLoad("", name)
		if got, _ := os.ReadFile(filepath.Join(w.dir, "root")); strings.TrimSpace(a.Body) != want[0] || strings.TrimSpace(string(got)) != want[1] {
			t.Errorf("%s: text %q and hook %q, want %q", name, a.Body, got, want)
		}
	}
}

// TestShellOfCommands checks that `shell: bash` runs bash, even if the default shell is another program.
func TestShellOfCommands(t *testing.T) {
	w := newFixture(t, "claude-code")
	bin := filepath.Join(w.dir, "bin")
	for _, shell := range []string{"sh", "bash"} {
		w.file("bin/"+shell, "#!/bin/sh\necho from "+shell+"\n")
	}
	t.Setenv("PATH", bin)
	w.skill("plain", "", "!`x`\n")
	w.skill("bash", "shell: bash", "!`x`\n")
	for name, want := range map[string]string{"plain": "from sh\n", "bash": "from bash\n"} {
		a, err := w.load("", name, session.Activate{Shell: true})
		if err != nil || a.Body != want {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// TestUnenforced checks that a skill's requests for its scripts that skillpm cannot fulfill are reported.
func TestUnenforced(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("plain", "execution: {sandbox: false, network: true}", "x\n")
	w.skill("careful", "execution: {sandbox: true, network: false, allowed-paths: [out]}", "x\n")
	if a := w.mustLoad("", "plain"); len(a.Warnings) > 0 {
		t.Errorf("%q", a.Warnings)
	}
	if a := w.mustLoad("", "careful"); len(a.Warnings) != 1 ||
		!strings.Contains(a.Warnings[0], "execution.sandbox, execution.allowed-paths, execution.network") {
		t.Errorf("%q", a.Warnings)
	}
}

// TestUnrecordedRefusals checks that a refusal that could not be recorded is reported, with its own code.
func TestUnrecordedRefusals(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("manual", "disable-model-invocation: true", "x\n")
	w.file("state/audit/audit.jsonl/x", "") // a directory in its place
	_, err := w.load("s", "manual", session.Activate{})
	code(t, err, diag.Denied, "cannot record")
	_, err = w.load("s", "none", session.Activate{})
	code(t, err, diag.NotFound, "cannot record")
	_, err = w.open("s").Read(t.Context(), "manual", "none.md")
	code(t, err, diag.NotFound, "cannot record")
	_, err = w.open("s").Run(t.Context(), "none", session.RunOptions{})
	code(t, err, diag.NotFound, "cannot record")
}

// TestHostOnWindows checks that an agent on Windows runs lines with PowerShell or cmd, which quote differently.
func TestHostOnWindows(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("git", "allowed-tools: [\"shell(git:*)\"]", "x\n")
	w.mustLoad("s", "git")
	line := `git log "a b"`
	for os, want := range map[string]bool{"linux": true, "windows": false} {
		w.env.OS = os
		v, err := w.open("s").Allow(t.Context(), tool.Call{Tool: "shell", Input: map[string]any{"command": line}})
		if err != nil || v.Allowed != want {
			t.Errorf("%s: %+v, %v", os, v, err)
		}
	}
}

// TestListedNames checks that an unreadable directory is an error, and that the first names of a large one are listed.
func TestListedNames(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "", "x\n")
	for i := range 1005 {
		w.file("project/skills/deploy/many/"+string(rune('a'+i/100))+strings.Repeat("x", i%100+1), "")
	}
	f, err := w.open("").Read(t.Context(), "deploy", "many")
	if err != nil || len(f.Names) != 1001 || f.Names[0] != "ax" || f.Names[1000] != "…" || slices.Contains(f.Names, "k"+strings.Repeat("x", 5)) {
		t.Errorf("%d names, %v", len(f.Names), err)
	}
	locked := filepath.Join(w.dir, "project/skills/deploy/locked")
	if err := os.Mkdir(locked, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir(locked); err == nil {
		t.Skip("whoever runs this may read everything")
	}
	if _, err := w.open("").Read(t.Context(), "deploy", "locked"); err == nil {
		t.Error("a directory that cannot be read is listed")
	}
}
