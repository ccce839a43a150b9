package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// TestHooks checks SPEC O12: the pre hook runs before the skill, which does not become active if the hook fails. The
// post hook runs after it.
func TestHooks(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "hooks: {pre: scripts/pre.sh, post: scripts/post.sh}", "Deploy.\n")
	trace := filepath.Join(w.dir, "trace")
	line := func(what string) string {
		return "#!/bin/sh\necho \"" + what + " $SKILLPM_HOOK $SKILL_NAME $SKILL_ARGUMENTS $SKILLPM_SESSION $SECRET_TOKEN $(pwd)\" >> " + trace + "\n"
	}
	w.file("project/skills/deploy/scripts/pre.sh", line("before"))
	w.file("project/skills/deploy/scripts/post.sh", line("after"))
	t.Setenv("SECRET_TOKEN", "hunter2")
	if _, err := w.load("s", "deploy", session.Activate{Arguments: "prod"}); err != nil {
		t.Fatal(err)
	}
	if a := w.mustLoad("s", "deploy"); !a.Repeated { // no hook runs
		t.Error("it is activated again")
	}
	if _, err := w.open("s").Deactivate(t.Context(), "", session.User); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(trace)
	work := filepath.Join(w.dir, "project")
	want := "before pre deploy prod s  " + work + "\nafter post deploy prod s  " + work + "\n"
	if string(got) != want {
		t.Errorf("hooks said\n%swant\n%s", got, want)
	}
	records := w.records()
	if !slices.ContainsFunc(records, func(r string) bool { return r == "hook ok deploy pre " }) || !slices.ContainsFunc(records, func(r string) bool { return r == "hook ok deploy post " }) {
		t.Errorf("records %q", records)
	}
}

// TestHookFails checks SPEC O12: errors of hooks have the exit code and the hook's output.
func TestHookFails(t *testing.T) {
	outside := "#!/bin/sh\ntouch ran\n"
	for name, tt := range map[string]struct {
		pre   string // the path
		text  string
		limit time.Duration
		says  []string
		code  diag.Code
	}{
		"exit code":    {"scripts/pre.sh", "#!/bin/sh\necho no cluster >&2\nexit 7\n", 0, []string{"pre hook scripts/pre.sh of skill \"deploy\"", "exited with code 7", "no cluster", "did not activate the skill"}, diag.Internal},
		"limit":        {"scripts/pre.sh", "#!/bin/sh\nsleep 60\n", 300 * time.Millisecond, []string{"within 300ms"}, diag.Internal},
		"missing":      {"scripts/gone.sh", "#!/bin/sh\n", 0, []string{"gone.sh", "scripts/pre.sh"}, diag.Internal},
		"outside":      {"../../../outside.sh", outside, 0, []string{"not a path inside"}, diag.Internal},
		"link outside": {"scripts/link.sh", outside, 0, []string{"leads out"}, diag.Internal},
		"absolute":     {"/bin/true", "#!/bin/sh\n", 0, []string{"not a path inside"}, diag.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, "omniforge")
			w.env.ScriptLimit = tt.limit
			w.skill("deploy", "allowed-tools: Read\nhooks: {pre: "+tt.pre+"}", "x\n")
			w.file("project/skills/deploy/scripts/pre.sh", tt.text)
			target := w.file("outside.sh", outside)
			if err := os.Symlink(target, filepath.Join(w.dir, "project/skills/deploy/scripts/link.sh")); err != nil {
				t.Skip("no links here:", err)
			}
			_, err := w.load("s", "deploy", session.Activate{})
			code(t, err, tt.code, tt.says...)
			var hook *session.HookError
			if !errors.As(err, &hook) || hook.Kind != "pre" {
				t.Errorf("%#v", err)
			}
			if v := w.allow("s", "Write"); !v.Allowed || len(v.Stack) > 0 {
				t.Errorf("the skill is active: %+v", v)
			}
			if _, err := os.Stat(filepath.Join(w.dir, "project", "ran")); err == nil {
				t.Error("a script outside the skill ran")
			}
			if r := w.records(); !strings.HasPrefix(r[0], "hook ") || !strings.HasPrefix(r[len(r)-1], "activate failed deploy") {
				t.Errorf("records %q", r)
			}
		})
	}
}

// TestLongArguments checks that long arguments reach the text but no hook, and that a state that no session could read
// is never written.
func TestLongArguments(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "allowed-tools: Read\nhooks: {pre: pre.sh}", "$ARGUMENTS")
	w.file("project/skills/deploy/pre.sh", "#!/bin/sh\nexit 0\n")
	long := strings.Repeat("x", 1<<20)
	if a, err := w.load("s", "deploy", session.Activate{Arguments: long}); err != nil || a.Body != long {
		t.Fatal(err)
	}
	if v := w.allow("s", "Write"); v.Allowed {
		t.Error("Write is allowed")
	}
	if _, err := w.open("s").Deactivate(t.Context(), "", session.User); err != nil {
		t.Fatal(err)
	}
	_, err := w.load("s", "deploy", session.Activate{Arguments: strings.Repeat(long, 5)})
	code(t, err, diag.Invalid, "the arguments and tool lists of the")
	if v := w.allow("s", "Write"); !v.Allowed {
		t.Error("it is active all the same")
	}
}

// TestPostHookFails checks that a failed post hook is an error, and that the skill has still ended.
func TestPostHookFails(t *testing.T) {
	w := newFixture(t, "omniforge")
	for _, name := range []string{"a", "b"} {
		w.skill(name, "allowed-tools: Read\nhooks: {post: post.sh}", "x\n")
		w.file("project/skills/"+name+"/post.sh", "#!/bin/sh\necho broken "+name+" >&2\nexit 2\n")
		w.nest("s", name)
	}
	ended, err := w.open("s").Deactivate(t.Context(), "a", session.User)
	if !slices.Equal(ended, []string{"b", "a"}) {
		t.Errorf("ended %v", ended)
	}
	code(t, err, diag.Internal, "broken a", "broken b", "skillpm still deactivated the skill")
	if v := w.allow("s", "Write"); !v.Allowed {
		t.Error("the tools were not given back")
	}
}

// TestHookMayAskTheSession checks that the session is not locked while a hook runs, so that the hook can query it.
func TestHookMayAskTheSession(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("outer", "allowed-tools: Read, Bash", "x\n")
	w.skill("deploy", "hooks: {pre: pre.sh}", "x\n")
	w.mustLoad("s", "outer")
	fifo := filepath.Join(w.dir, "asked")
	w.file("project/skills/deploy/pre.sh", "#!/bin/sh\nuntil [ -e "+fifo+" ]; do sleep 0.01; done\n")
	done := make(chan error, 1)
	go func() {
		_, err := w.load("s", "deploy", session.Activate{})
		done <- err
	}()
	if v := w.allow("s", "Write"); v.Allowed {
		t.Error("Write is allowed")
	}
	if _, err := w.open("s").Deactivate(t.Context(), "outer", session.User); err != nil {
		t.Error(err)
	}
	w.file("asked", "")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestO12NestedHook checks O12, O10: a nested skill's hooks run only if the active skills allow the shell tool to run
// them.
func TestO12NestedHook(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("reader", "allowed-tools: Read", "x\n")
	w.skill("git", "allowed-tools: Bash(git:*), Read", "x\n")
	w.skill("deploy", "hooks: {pre: pre.sh, post: post.sh}", "x\n")
	w.file("project/skills/deploy/pre.sh", "#!/bin/sh\ntouch "+w.dir+"/pre\n")
	w.file("project/skills/deploy/post.sh", "#!/bin/sh\ntouch "+w.dir+"/post\n")
	for _, outer := range []string{"reader", "git"} {
		w.mustLoad(outer, outer)
		_, err := w.load(outer, "deploy", session.Activate{Parent: outer})
		code(t, err, diag.Denied, "pre hook pre.sh of skill \"deploy\"", "did not activate the skill", "skill "+outer+" allows")
	}
	if _, err := os.Stat(filepath.Join(w.dir, "pre")); err == nil {
		t.Error("the hook ran")
	}
	w.mustLoad("free", "deploy")
	w.nest("free", "reader") // inside: its list counts while it is active
	if _, err := w.open("free").Deactivate(t.Context(), "deploy", session.User); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"pre", "post"} {
		if _, err := os.Stat(filepath.Join(w.dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestCancelledHook checks that an activation that is canceled during its hook leaves no state.
func TestCancelledHook(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "hooks: {pre: pre.sh}", "x\n")
	w.file("project/skills/deploy/pre.sh", "#!/bin/sh\ntouch "+w.dir+"/begun\nsleep 60\n")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(w.dir, "begun")); err == nil {
				cancel()
				return
			}
		}
	}()
	_, err := w.open("s").Activate(ctx, "deploy", session.Activate{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if state, err := w.open("s").State(); err != nil || len(state.Active) > 0 {
		t.Errorf("%+v, %v", state, err)
	}
}

// TestCommandsInABody checks that commands in a body run only if that is allowed, within the current tool restrictions,
// and never from arguments.
func TestCommandsInABody(t *testing.T) {
	body := "Log: !`echo one two` and $ARGUMENTS\n"
	for name, tt := range map[string]struct {
		profile, front string
		shell          bool
		outer          string
		want, warns    string
	}{
		"by default":       {"claude-code", "", false, "", "Log: !`echo one two` and !`touch pwned`\n", "--allow-shell"},
		"allowed":          {"claude-code", "", true, "", "Log: one two and !`touch pwned`\n", ""},
		"its own list":     {"claude-code", "allowed-tools: Bash(git:*)", true, "", "Log: !`echo one two` and !`touch pwned`\n", "not run"},
		"within its list":  {"claude-code", "allowed-tools: Bash(echo:*)", true, "", "Log: one two and !`touch pwned`\n", ""},
		"another's list":   {"claude-code", "", true, "allowed-tools: Read", "Log: !`echo one two` and !`touch pwned`\n", "outer"},
		"not this profile": {"omniforge", "", true, "", "Log: !`echo one two` and !`touch pwned`\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, tt.profile)
			w.skill("deploy", tt.front, body)
			w.skill("outer", tt.outer, "x\n")
			o := session.Activate{Arguments: "!`touch pwned`", Shell: tt.shell}
			if tt.outer != "" {
				w.mustLoad("s", "outer")
				o.Parent = "outer"
			}
			a, err := w.load("s", "deploy", o)
			if err != nil {
				t.Fatal(err)
			}
			if tt.profile == "omniforge" { // which knows $ARGUMENTS too
				tt.want = strings.Replace(body, "$ARGUMENTS", "!`touch pwned`", 1)
			}
			if a.Body != tt.want {
				t.Errorf("body %q, want %q", a.Body, tt.want)
			}
			if got := strings.Join(a.Warnings, "\n"); !strings.Contains(got, tt.warns) || (tt.warns == "") != (got == "") {
				t.Errorf("warnings %q, want %q", got, tt.warns)
			}
			if _, err := os.Stat(filepath.Join(w.dir, "project", "pwned")); err == nil {
				t.Error("an argument was run")
			}
		})
	}
}

// TestCommandFails checks that a failed command stays in the text instead of its output, with a warning that has the
// reason.
func TestCommandFails(t *testing.T) {
	w := newFixture(t, "claude-code")
	w.skill("deploy", "", "See !`echo broken >&2; exit 3` here.\n")
	a, err := w.load("s", "deploy", session.Activate{Shell: true})
	if err != nil || a.Body != "See !`echo broken >&2; exit 3` here.\n" || len(a.Warnings) == 0 || !strings.Contains(a.Warnings[0], "exited with code 3: broken") {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestFork checks SPEC P10, O11: a fork is passed to a task with only its body, and is not active in this session.
// --inline activates it here.
func TestFork(t *testing.T) {
	w := newFixture(t, "claude-code")
	w.skill("research", "context: fork\nagent: explore\nmodel: opus\nallowed-tools: Read\nhooks: {pre: pre.sh}", "Find out about $ARGUMENTS.\n")
	w.file("project/skills/research/pre.sh", "#!/bin/sh\ntouch "+w.dir+"/pre\n")
	_, err := w.load("s", "research", session.Activate{})
	code(t, err, diag.NotFound, "under runners", "--inline")
	if _, err := os.Stat(filepath.Join(w.dir, "pre")); err == nil {
		t.Error("the pre hook ran without a runner")
	}
	var got session.Fork
	w.env.Submit = func(_ context.Context, f session.Fork) (string, error) { got = f; return "t-1", nil }
	a, err := w.load("s", "research", session.Activate{Arguments: "owls"})
	if err != nil {
		t.Fatal(err)
	}
	want := session.Fork{
		Skill: "research", Dir: filepath.Join(w.dir, "project/skills/research"), Agent: "explore", Model: "opus",
		Body: "Find out about owls.\n", Arguments: "owls", Project: w.env.Project, Session: got.Session,
	}
	if a.TaskID != "t-1" || got != want || a.Result().TaskID != "t-1" {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if v := w.allow("s", "Write"); !v.Allowed {
		t.Error("a task restricts the session that it came from")
	}
	if r := w.records(); !strings.HasPrefix(r[len(r)-1], "task ok research") {
		t.Errorf("%q", r)
	}
	if a, err := w.load("s", "research", session.Activate{Inline: true}); err != nil || a.TaskID != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if v := w.allow("s", "Write"); v.Allowed {
		t.Error("a skill that is active here restricts nothing")
	}
	w.env.Submit = func(context.Context, session.Fork) (string, error) { return "", errors.New("no room") }
	if _, err := w.load("t", "research", session.Activate{}); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("%v", err)
	}
}
