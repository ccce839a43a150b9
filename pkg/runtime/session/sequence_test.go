package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// TestO19Independent checks SPEC O19: independent skills used one after the other are not nested, however many. Each
// ends when the next one is activated, and so do its restrictions.
func TestO19Independent(t *testing.T) {
	w := newFixture(t, "omniforge")
	for i := range 8 {
		w.skill(fmt.Sprintf("s%d", i), fmt.Sprintf("allowed-tools: [Read, Tool%d]", i), "Do it.\n")
	}
	for i := range 8 {
		a := w.mustLoad("s", fmt.Sprintf("s%d", i))
		if want := []string{fmt.Sprintf("s%d", i)}; !slices.Equal(a.Stack, want) || i > 0 && !slices.Equal(a.Ended, []string{fmt.Sprintf("s%d", i-1)}) {
			t.Errorf("active %v, ended %v", a.Stack, a.Ended)
		}
		if !w.allow("s", fmt.Sprintf("Tool%d", i)).Allowed || w.allow("s", fmt.Sprintf("Tool%d", i-1)).Allowed {
			t.Errorf("after s%d: the wrong tools are allowed", i)
		}
	}
}

// TestO10References checks SPEC O10: a skill is nested in an active one that refers to it in its text or files, and only
// then.
func TestO10References(t *testing.T) {
	for text, nested := range map[string]bool{
		"Then do [the fix](../fix/SKILL.md).":            true,
		"Read [its list](../fix/references/list.md).":    true,
		"Use /fix for that.":                             true,
		"Use `fix` for that.":                            true,
		"Use `/fix` or (/fix).":                          true,
		"See fix@acme/tools.":                            false, // of a pack that it is not in
		"Then fix the bug.":                              false,
		"See [docs](https://example.com/fix) and a/fix.": false,
		"Edit src/fix.go and /fix/x and ./fix.":          false,
		"Run `fix --all` and `prefix`.":                  false,
		"The /fixed and /pre/fix paths.":                 false,
	} {
		for _, file := range []string{"SKILL.md", "references/more.md"} {
			w := newFixture(t, "omniforge")
			body, at := text, "project/skills/review/references/none.md"
			if file != "SKILL.md" {
				body, at = "Review.", "project/skills/review/"+file
			}
			w.skill("review", "allowed-tools: [Read, Grep]", body+"\n")
			w.file(at, strings.ReplaceAll(text, "../fix/", "../../fix/")+"\n")
			if file == "SKILL.md" {
				os.Remove(filepath.Join(w.dir, at))
			}
			w.skill("fix", "allowed-tools: [Read, Edit]", "Fix.\n")
			w.file("project/skills/fix/references/list.md", "x\n")
			w.mustLoad("s", "review")
			a := w.mustLoad("s", "fix")
			if got := len(a.Stack) == 2; got != nested || got == w.allow("s", "Edit").Allowed {
				t.Errorf("%s with %q: nested %t, want %t", file, text, got, nested)
			}
		}
	}
}

// TestO10ReferencesToPacks checks SPEC O18, O10: name@pack and owner/name refer to the skill of a pack.
func TestO10ReferencesToPacks(t *testing.T) {
	for text, nested := range map[string]bool{
		"See rollout@acme/ops.": true, "See rollout@ops now.": true, "See acme/rollout.": true,
		"See rollout@globex/ops.": false, "See rollout@opsy.": false, "Write to rollout@ops.example.com": false,
	} {
		w := newFixture(t, "omniforge")
		w.skill("review", "", text+"\n")
		w.file("project/.skillpm/plugins/acme/ops/rollout/SKILL.md", "---\nname: rollout\ndescription: Rolls out.\n---\nRoll.\n")
		w.mustLoad("s", "review")
		if a := w.mustLoad("s", "rollout@acme/ops"); (len(a.Stack) == 2) != nested {
			t.Errorf("%q: %v", text, a.Stack)
		}
	}
}

// TestO10UserStarted checks SPEC O10: the model cannot end a skill that the user started, neither by activating another
// one nor by ending it, and its restrictions stay. The user can.
func TestO10UserStarted(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("careful", "allowed-tools: Read", "Only look.\n")
	w.skill("free", "", "Do it.\n")
	if _, err := w.load("s", "careful", session.Activate{Trigger: session.User}); err != nil {
		t.Fatal(err)
	}
	if a := w.mustLoad("s", "free"); !slices.Equal(a.Stack, []string{"careful", "free"}) || w.allow("s", "Bash").Allowed {
		t.Errorf("active %v", a.Stack)
	}
	if _, err := w.open("s").Deactivate(t.Context(), "careful", session.Model); diag.CodeOf(err) != diag.Denied {
		t.Errorf("the model ended it: %v", err)
	}
	if ended, err := w.open("s").Deactivate(t.Context(), "", session.Model); err != nil || !slices.Equal(ended, []string{"free"}) {
		t.Errorf("ended %v, %v", ended, err)
	}
	if _, err := w.open("s").Deactivate(t.Context(), "", session.Model); diag.CodeOf(err) == diag.OK {
		t.Error("the model ended the user's skill")
	}
	if a, err := w.load("s", "free", session.Activate{Trigger: session.User}); err != nil || !slices.Equal(a.Stack, []string{"free"}) {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestO12Sequence checks SPEC O12, O10: the post hook of a skill runs when the next one is activated. The tool lists of
// neither forbid the other's hooks, and a skill whose pre hook fails ends nothing.
func TestO12Sequence(t *testing.T) {
	w := newFixture(t, "omniforge")
	for _, name := range []string{"first", "second", "broken"} {
		w.skill(name, "allowed-tools: Read\nhooks: {pre: pre.sh, post: post.sh}", "Do it.\n")
		w.file("project/skills/"+name+"/pre.sh", "#!/bin/sh\necho pre "+name+" >> "+w.dir+"/trace\ntest "+name+" != broken\n")
		w.file("project/skills/"+name+"/post.sh", "#!/bin/sh\necho post "+name+" >> "+w.dir+"/trace\n")
	}
	w.mustLoad("s", "first")
	w.mustLoad("s", "second")
	if _, err := w.load("s", "broken", session.Activate{}); err == nil {
		t.Error("a skill is active although its pre hook failed")
	}
	if state, _ := w.open("s").State(); !slices.Equal(state.Names(), []string{"second"}) {
		t.Errorf("active %v", state.Names())
	}
	trace, _ := os.ReadFile(filepath.Join(w.dir, "trace"))
	if want := "pre first\npre second\npost first\npre broken\n"; string(trace) != want {
		t.Errorf("hooks: %q, want %q", trace, want)
	}
}

// TestO11Fork checks SPEC O11, O10, O12: in a task the tool lists of the skill and of the caller's skills apply, the pre
// hook runs before it, and the post hook at its end. The fork itself is refused under no restriction.
func TestO11Fork(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("careful", "allowed-tools: [Read, Bash]", "Look.\n")
	// The deployment skill of the original design: hooks, a tool list, and a context of its own.
	w.skill("kubernetes-deployment", "context: fork\nagent: deployment-agent\nmodel: opus\nallowed-tools: [Read, Bash, Write]\n"+
		"hooks: {pre: scripts/validate-cluster.sh, post: scripts/verify-deployment.sh}", "Deploy $ARGUMENTS.\n")
	for kind, script := range map[string]string{"pre": "validate-cluster", "post": "verify-deployment"} {
		w.file("project/skills/kubernetes-deployment/scripts/"+script+".sh", "#!/bin/sh\necho "+kind+" $SKILL_ARGUMENTS >> "+w.dir+"/trace\n")
	}
	trace := func(want string) {
		t.Helper()
		if got, _ := os.ReadFile(filepath.Join(w.dir, "trace")); string(got) != want {
			t.Errorf("hooks: %q, want %q", got, want)
		}
	}
	var got session.Fork
	w.env.CheckRunner = func(agent string) error { return errors.New("no " + agent) }
	w.env.Submit = func(_ context.Context, f session.Fork) (string, error) { got = f; return "t-1", nil }
	_, err := w.load("s", "kubernetes-deployment", session.Activate{})
	var none *session.RunnerError
	if !errors.As(err, &none) || diag.CodeOf(err) != diag.NotFound {
		t.Errorf("%v", err)
	}
	trace("")
	w.env.CheckRunner = nil
	w.mustLoad("s", "careful")
	a, err := w.load("s", "kubernetes-deployment", session.Activate{Arguments: "shop"})
	if err != nil || a.TaskID != "t-1" {
		t.Fatalf("%+v, %v", a, err)
	}
	trace("pre shop\n")
	if got.Agent != "deployment-agent" || got.Model != "opus" || !session.IsTask(got.Session) {
		t.Errorf("%+v", got)
	}
	for name, want := range map[string]bool{"Read": true, "Bash": true, "Write": false, "WebFetch": false} {
		if v := w.allow(got.Session, name); v.Allowed != want {
			t.Errorf("in the task, %s is allowed: %t (%s)", name, v.Allowed, v.Reason)
		}
	}
	// An agent in the task has a session of its own, which begins with these skills; it can end none of them.
	inner := w.open("agent").Other("agent", got.Session)
	if v, err := inner.Allow(t.Context(), tool.Call{Tool: "Write"}); err != nil || v.Allowed {
		t.Errorf("the agent in the task may write: %+v, %v", v, err)
	}
	for _, s := range []*session.Session{inner, w.open(got.Session)} {
		if _, err := s.Deactivate(t.Context(), "kubernetes-deployment", session.Model); diag.CodeOf(err) != diag.Denied {
			t.Errorf("the model ended the skill of its task: %v", err)
		}
	}
	if v := w.allow("s", "Write"); v.Allowed {
		t.Error("the caller's restriction is gone")
	}
	if _, err := w.open(got.Session).End(t.Context()); err != nil {
		t.Error(err)
	}
	trace("pre shop\npost shop\n")
	w.env.Submit = func(context.Context, session.Fork) (string, error) { return "", errors.New("no room") }
	if _, err := w.load("u", "kubernetes-deployment", session.Activate{Arguments: "x"}); err == nil {
		t.Error("a failed submission is no error")
	}
	trace("pre shop\npost shop\npre x\npost x\n")
}

// TestO11ForkInFork checks SPEC O19, O11: a task cannot start its own skill as a task again, or too many within one
// another.
func TestO11ForkInFork(t *testing.T) {
	w := newFixture(t, "omniforge")
	for i := range 7 {
		w.skill(fmt.Sprintf("f%d", i), "context: fork", "Do it.\n")
	}
	var task string
	w.env.Submit = func(_ context.Context, f session.Fork) (string, error) { task = f.Session; return "t", nil }
	if _, err := w.load("s", "f0", session.Activate{}); err != nil {
		t.Fatal(err)
	}
	var cycle *session.CycleError
	if _, err := w.load(task, "f0", session.Activate{}); !errors.As(err, &cycle) {
		t.Errorf("%v", err)
	}
	for i := 1; i < 5; i++ {
		if _, err := w.load(task, fmt.Sprintf("f%d", i), session.Activate{}); err != nil {
			t.Fatal(err)
		}
	}
	var deep *session.DepthError
	if _, err := w.load(task, "f5", session.Activate{}); !errors.As(err, &deep) {
		t.Errorf("%v", err)
	}
}

// TestO10TakenOver checks SPEC O10: the model cannot end a skill that the user has also started.
func TestO10TakenOver(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("reader", "allowed-tools: Read", "Read.\n")
	w.skill("fix", "", "Fix.\n")
	w.mustLoad("s", "reader")
	if _, err := w.load("s", "reader", session.Activate{Trigger: session.User}); err != nil {
		t.Fatal(err)
	}
	if a := w.mustLoad("s", "fix"); !slices.Equal(a.Stack, []string{"reader", "fix"}) {
		t.Errorf("active %v", a.Stack)
	}
}

// TestO18EndsExactly checks SPEC O18: the name of another pack's skill ends nothing.
func TestO18EndsExactly(t *testing.T) {
	w := newFixture(t, "omniforge")
	for _, owner := range []string{"acme", "zeta"} {
		w.file("project/.skillpm/plugins/"+owner+"/tools/deploy/SKILL.md", "---\nname: deploy\ndescription: By "+owner+".\n---\nDo it.\n")
	}
	w.mustLoad("s", "deploy@acme/tools")
	if ended, err := w.open("s").Deactivate(t.Context(), "deploy@zeta/tools", session.User); err == nil {
		t.Errorf("ended %v", ended)
	}
}
