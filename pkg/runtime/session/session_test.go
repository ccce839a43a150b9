package session_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// fixture is a project with skills, and the sessions of an agent in it.
type fixture struct {
	testing.TB
	dir     string // holds home and project
	profile string
	env     session.Options
	now     time.Time
}

func newFixture(t testing.TB, profileID string) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{TB: t, dir: dir, profile: profileID, now: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
	w.env = newEnv(w)
	w.file("project/skillpm.yaml", "")
	w.file("home/x", "")
	return w
}

// newEnv returns the environment of a fixture's sessions.
func newEnv(w *fixture) session.Options {
	p, err := profile.Lookup(cmp.Or(w.profile, "omniforge"))
	if err != nil {
		w.Fatal(err)
	}
	only := *p
	only.Layers = []profile.Layer{{Name: "project", Dirs: []string{"./skills"}}, {Name: "plugin", Dirs: []string{"{plugins}"}}}
	env := session.Options{
		Environment: environ.Environment{
			Paths: scope.Paths{State: filepath.Join(w.dir, "state"), Home: filepath.Join(w.dir, "home")},
			Dir:   filepath.Join(w.dir, "project"), Now: func() time.Time { return w.now }, Getenv: os.Getenv,
		},
		Profile: &only, Project: filepath.Join(w.dir, "project"),
	}
	env.Audit = audit.Open(filepath.Join(env.Paths.State, "audit", audit.Name), audit.Options{Now: env.Now, User: "ada"})
	env.Catalog = w.openCatalog(env)
	return env
}

// catalogOf makes all sessions use the skills of another project.
func (w *fixture) catalogOf(project string) {
	env := w.env
	env.Project = project
	w.env.Catalog = w.openCatalog(env)
}

func (w *fixture) openCatalog(env session.Options) func(context.Context) (*catalog.Catalog, error) {
	return func(ctx context.Context) (*catalog.Catalog, error) {
		paths, err := scope.New(scope.Env{Home: filepath.Join(w.dir, "home"), OS: "linux"})
		if err != nil {
			return nil, err
		}
		paths.Enterprise = filepath.Join(w.dir, "enterprise")
		return catalog.Open(ctx, catalog.Options{Profile: env.Profile, Paths: paths, Project: env.Project, Now: env.Now})
	}
}

// keep makes all sessions use one catalog.
func (w *fixture) keep(c *catalog.Catalog) {
	w.env.Catalog = func(context.Context) (*catalog.Catalog, error) { return c, nil }
}

// failing is a test in a separate process: if it fails, the process fails.
type failing struct{ testing.TB }

func (*failing) Helper()                   {}
func (*failing) Context() context.Context  { return context.Background() }
func (*failing) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (*failing) Fatal(a ...any)            { panic(fmt.Sprint(a...)) }

// file writes a file below the fixture's directory. A file that begins with #! is executable.
func (w *fixture) file(name, text string) string {
	w.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
		w.Fatal(err)
	}
	return path
}

// skill writes a skill of the project: lines of frontmatter, and a body.
func (w *fixture) skill(name, front, body string) string {
	w.Helper()
	if front != "" {
		front = strings.TrimSuffix(front, "\n") + "\n"
	}
	return w.file("project/skills/"+name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: Does %s.\n%s---\n%s", name, name, front, body))
}

// open opens a session like another process.
func (w *fixture) open(id string) *session.Session {
	w.Helper()
	s, err := session.Open(w.env, id)
	if err != nil {
		w.Fatal(err)
	}
	return s
}

func (w *fixture) load(id, name string, o session.Activate) (*session.Activation, error) {
	w.Helper()
	return w.open(id).Activate(w.Context(), name, o)
}

// nest activates a skill as part of the one that was activated last.
func (w *fixture) nest(id, name string) *session.Activation {
	w.Helper()
	state, err := w.open(id).State()
	if err != nil {
		w.Fatal(err)
	}
	parent := ""
	if n := len(state.Active); n > 0 {
		parent = state.Active[n-1].Exact()
	}
	a, err := w.load(id, name, session.Activate{Parent: parent})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

func (w *fixture) mustLoad(id, name string) *session.Activation {
	w.Helper()
	a, err := w.load(id, name, session.Activate{})
	if err != nil {
		w.Fatalf("load %s: %v", name, err)
	}
	return a
}

// allow opens a session again and checks a tool call.
func (w *fixture) allow(id, name string, input ...string) session.Verdict {
	w.Helper()
	c := tool.Call{Tool: name}
	if len(input) == 2 {
		c.Input = map[string]any{input[0]: input[1]}
	}
	v, err := w.open(id).Allow(w.Context(), c)
	if err != nil {
		w.Fatalf("allow %s: %v", name, err)
	}
	return v
}

// records returns the records, one a line: action result skill, and the truncation of the reason.
func (w *fixture) records() []string {
	w.Helper()
	return readLog(w, filepath.Join(w.env.Paths.State, "audit", audit.Name))
}

// code checks an error's exit code, and that its text and hint contain the words.
func code(t testing.TB, err error, want diag.Code, words ...string) {
	t.Helper()
	if diag.CodeOf(err) != want {
		t.Errorf("%v (%v), want %v", err, diag.CodeOf(err), want)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error()+"\n"+diag.HintOf(err), word) {
			t.Errorf("%v\n%s\ndoes not say %q", err, diag.HintOf(err), word)
		}
	}
	if want != diag.OK && diag.HintOf(err) == "" {
		t.Errorf("%v has no hint", err)
	}
}

// TestActivate checks SPEC P6, P3: a body is read when the skill is activated, with its arguments.
func TestActivate(t *testing.T) {
	w := newFixture(t, "claude-code")
	w.skill("deploy", "arguments: [to, with]", "Deploy to $to with $1, all: $ARGUMENTS, from ${CLAUDE_SKILL_DIR} in ${CLAUDE_SESSION_ID}. $9\n")
	a, err := w.load("s", "deploy", session.Activate{Arguments: `prod "two words"`})
	if err != nil {
		t.Fatal(err)
	}
	want := `Deploy to prod with two words, all: prod "two words", from ` + filepath.Join(w.dir, "project/skills/deploy") + " in s. $9\n"
	if a.Body != want || !strings.HasPrefix(a.Source, "---\nname: deploy\n") || !strings.HasSuffix(a.Source, want) {
		t.Errorf("body %q\nwant %q\nsource %q", a.Body, want, a.Source)
	}
	if !slices.Equal(a.Stack, []string{"deploy"}) || a.Result().Kind != prompt.Activated {
		t.Errorf("%+v", a)
	}
	state, err := w.open("s").State()
	if err != nil || len(state.Active) != 1 || state.Active[0].Arguments != `prod "two words"` || state.Active[0].Trigger != session.Model {
		t.Errorf("%+v, %v", state, err)
	}
}

// TestAlreadyActive checks SPEC K5: an active skill is not activated again, its instructions are repeated, and the error
// about an unknown one lists the available skills.
func TestAlreadyActive(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "", "Deploy.\n")
	w.skill("review", "", "Review.\n")
	if a := w.mustLoad("s", "deploy"); a.Repeated {
		t.Error("the first activation is said to be a repetition")
	}
	a := w.mustLoad("s", "deploy")
	if state, _ := w.open("s").State(); !a.Repeated || a.Body != "Deploy.\n" || len(state.Active) != 1 {
		t.Errorf("%+v, active: %v", a, state.Names())
	}
	_, err := w.load("s", "nothing", session.Activate{})
	code(t, err, diag.NotFound, "deploy, review")
	w.mustLoad("other", "deploy") // another session has nothing to do with it
	w.mustLoad("", "deploy")
	w.mustLoad("", "deploy") // nothing is kept without a session
}

// TestCycle checks SPEC O19: a cycle is refused, and the error shows it.
func TestCycle(t *testing.T) {
	w := newFixture(t, "omniforge")
	for name, next := range map[string]string{"a": "Do /b.", "b": "See [c](../c/SKILL.md).", "c": "Then `a` or `b` again."} {
		w.skill(name, "", next+"\n")
	}
	w.mustLoad("s", "a")
	w.mustLoad("s", "b")
	w.mustLoad("s", "c")
	_, err := w.load("s", "a", session.Activate{})
	code(t, err, diag.Conflict, "a → b → c → a")
	var cycle *session.CycleError
	if !errors.As(err, &cycle) || !slices.Equal(cycle.Chain, []string{"a", "b", "c", "a"}) {
		t.Errorf("%#v", err)
	}
	_, err = w.load("s", "b", session.Activate{})
	code(t, err, diag.Conflict, "b → c → b")
	if state, _ := w.open("s").State(); !slices.Equal(state.Names(), []string{"a", "b", "c"}) {
		t.Errorf("the stack is %v", state.Names())
	}
}

// TestDepth checks SPEC O19: at most five skills can be active inside each other, or the number in the settings.
func TestDepth(t *testing.T) {
	for _, tt := range []struct{ setting, most int }{{0, 5}, {2, 2}, {7, 7}} {
		w := newFixture(t, "omniforge")
		w.env.MaxDepth = tt.setting
		var names []string
		for i := range tt.most + 1 {
			names = append(names, fmt.Sprintf("s%d", i))
			w.skill(names[i], "", fmt.Sprintf("Go on with `s%d`.\n", i+1))
		}
		for _, name := range names[:tt.most] {
			w.mustLoad("s", name)
		}
		_, err := w.load("s", names[tt.most], session.Activate{})
		code(t, err, diag.Conflict, fmt.Sprintf("the limit is %d", tt.most), strings.Join(names[:tt.most], " → "), "max-depth")
		if _, err := w.open("s").Deactivate(t.Context(), "", session.User); err != nil {
			t.Fatal(err)
		}
		w.mustLoad("s", names[tt.most])
	}
}

// TestTriggers checks SPEC P9: the trigger matrix is enforced.
func TestTriggers(t *testing.T) {
	w := newFixture(t, "claude-code")
	w.skill("both", "", "x\n")
	w.skill("manual", "disable-model-invocation: true", "x\n")
	w.skill("quiet", "user-invocable: false", "x\n")
	for _, tt := range []struct {
		name    string
		trigger session.Trigger
		want    diag.Code
		says    string
	}{
		{"both", session.User, diag.OK, ""},
		{"both", session.Model, diag.OK, ""},
		{"both", "", diag.OK, ""},
		{"manual", session.User, diag.OK, ""},
		{"manual", session.Model, diag.Denied, "disable-model-invocation: true"},
		{"manual", "", diag.Denied, `skill "manual"`},
		{"quiet", session.User, diag.Denied, "user-invocable: false"},
		{"quiet", session.Model, diag.OK, ""},
		{"both", "cron", diag.Usage, "cron"},
	} {
		_, err := w.load("", tt.name, session.Activate{Trigger: tt.trigger})
		if diag.CodeOf(err) != tt.want || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s by %q: %v, want %v", tt.name, tt.trigger, err, tt.want)
		}
	}
}

// TestAllow checks SPEC O10 and the patterns of K4: tool lists in every syntax, and the intersection of those of nested
// skills, which ends with the nested skill.
func TestAllow(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("comma", "allowed-tools: Read, Grep, Bash(git:*)", "x\n")
	w.skill("space", "allowed-tools: Read Write Bash(git:*)", "x\n")
	w.skill("list", "allowed-tools: [Read, 'Bash(git status:*)']", "x\n")
	w.skill("free", "", "x\n")
	w.skill("none", "allowed-tools: []", "x\n")
	type toolCall struct {
		name, command string
		want          bool
	}
	check := func(stack string, all ...toolCall) {
		t.Helper()
		for _, a := range all {
			v := w.allow("s", a.name, "command", a.command)
			if v.Allowed != a.want {
				t.Errorf("with %s active: %s %s is allowed: %t, want %t (%s)", stack, a.name, a.command, v.Allowed, a.want, v.Reason)
			}
			if !v.Allowed && (v.Skill == "" || !strings.Contains(v.Reason, a.name) || !strings.Contains(v.Err().Error(), v.Skill)) {
				t.Errorf("%+v does not name the tool and the skill", v)
			}
		}
	}
	check("nothing", toolCall{"Anything", "", true})
	w.mustLoad("s", "free")
	check("free", toolCall{"Anything", "", true}, toolCall{"Bash", "rm -rf /", true})
	w.nest("s", "comma")
	check("comma", toolCall{"Read", "", true}, toolCall{"Grep", "", true}, toolCall{"Write", "", false}, toolCall{"Bash", "git push", true},
		toolCall{"Bash", "rm x", false}, toolCall{"shell", "git push", true}, toolCall{"Bash", "git push; rm x", false}, toolCall{"skill", "", true})
	w.nest("s", "space")
	check("space", toolCall{"Read", "", true}, toolCall{"Grep", "", false}, toolCall{"Write", "", false}, toolCall{"Bash", "git push", true})
	w.nest("s", "list")
	check("list", toolCall{"Bash", "git push", false}, toolCall{"Bash", "git status -s", true})
	w.nest("s", "none")
	check("none", toolCall{"Read", "", false}, toolCall{"skill", "", true})
	for _, name := range []string{"none", "list", "space"} {
		if ended, err := w.open("s").Deactivate(t.Context(), "", session.User); err != nil || !slices.Equal(ended, []string{name}) {
			t.Fatalf("%v, %v", ended, err)
		}
	}
	check("comma again", toolCall{"Grep", "", true}, toolCall{"Bash", "git push", true}, toolCall{"Write", "", false})
	if ended, err := w.open("s").Deactivate(t.Context(), "free", session.User); err != nil || !slices.Equal(ended, []string{"comma", "free"}) {
		t.Fatalf("%v, %v", ended, err)
	}
	check("nothing again", toolCall{"Write", "", true})
}

// TestRefusalIsRecorded checks SPEC O10: a refusal is recorded, with the tool and the skill.
func TestRefusalIsRecorded(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "allowed-tools: Read", "x\n")
	w.mustLoad("s", "deploy")
	v := w.allow("s", "Write")
	if v.Allowed || v.Skill != "deploy" || v.Tool != "Write" {
		t.Fatalf("%+v", v)
	}
	code(t, v.Err(), diag.Denied, "Tool 'Write' not allowed by active skill 'deploy'", "use only the allowed tools: Read")
	last := w.records()
	if got := last[len(last)-1]; !strings.HasPrefix(got, "refuse denied deploy Write ") {
		t.Errorf("%q", last)
	}
}

// TestBadList checks that a skill with an unreadable tool list is not activated, because the list may restrict it.
func TestBadList(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "allowed-tools: 'Bash(git:*'", "x\n")
	_, err := w.load("s", "deploy", session.Activate{})
	code(t, err, diag.Invalid, "deploy", "(git:*")
	if state, err := w.open("s").State(); err != nil || len(state.Active) != 0 {
		t.Errorf("%+v, %v", state, err)
	}
}

func TestDisallowed(t *testing.T) {
	w := newFixture(t, "claude-code")
	w.skill("deploy", "disallowed-tools: Bash(rm:*), Write", "x\n")
	w.mustLoad("s", "deploy")
	for name, want := range map[string]bool{"Write": false, "Read": true} {
		if v := w.allow("s", name); v.Allowed != want {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if v := w.allow("s", "Bash", "command", "rm -rf x"); v.Allowed {
		t.Errorf("%+v", v)
	}
}

// TestSkillChangesWhileActive checks that the rules of an active skill stay in effect if the skill is changed, renamed,
// or deleted, with a warning.
func TestSkillChangesWhileActive(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*fixture)
		says   string
	}{
		"changed": {func(w *fixture) { w.skill("deploy", "allowed-tools: Read, Write", "Other.\n") }, "changed after the activation"},
		"deleted": {func(w *fixture) { os.RemoveAll(filepath.Join(w.dir, "project/skills/deploy")) }, "was deleted after"},
		"renamed": {func(w *fixture) {
			os.Rename(filepath.Join(w.dir, "project/skills/deploy"), filepath.Join(w.dir, "project/skills/ship"))
		}, "was renamed to ship after"},
		"renamed, and its name": {func(w *fixture) {
			os.RemoveAll(filepath.Join(w.dir, "project/skills/deploy"))
			w.file("project/skills/ship/SKILL.md", "---\nname: ship\ndescription: Does deploy.\nallowed-tools: Read\n---\nDeploy.\n")
			if a := w.mustLoad("s", "ship"); !a.Repeated {
				t.Error("it is activated again")
			}
		}, "was renamed to ship after"},
		"replaced": {func(w *fixture) {
			os.RemoveAll(filepath.Join(w.dir, "project/skills/deploy"))
			w.skill("ship", "", "Deploy.\n") // another skill, by its description
		}, "was deleted after"},
		"not a file": {func(w *fixture) {
			os.Remove(filepath.Join(w.dir, "project/skills/deploy/SKILL.md"))
			os.Mkdir(filepath.Join(w.dir, "project/skills/deploy/SKILL.md"), 0o755)
		}, "can no longer read the SKILL.md"},
		"untouched": {func(*fixture) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, "omniforge")
			w.skill("deploy", "allowed-tools: Read\nhooks: {post: scripts/post.sh}", "Deploy.\n")
			w.file("project/skills/deploy/scripts/post.sh", "#!/bin/sh\nexit 0\n")
			w.mustLoad("s", "deploy")
			tt.change(w)
			for tool, want := range map[string]bool{"Read": true, "Write": false} {
				v := w.allow("s", tool)
				if v.Allowed != want {
					t.Errorf("%s is allowed: %t, want %t", tool, v.Allowed, want)
				}
				if tt.says == "" && len(v.Notes) > 0 || tt.says != "" && (len(v.Notes) != 1 || !strings.Contains(v.Notes[0], tt.says)) {
					t.Errorf("notes %q, want %q", v.Notes, tt.says)
				}
			}
			ended, err := w.open("s").Deactivate(t.Context(), "deploy", session.User) // by the name that it had
			if !slices.Equal(ended, []string{"deploy"}) {
				t.Errorf("ended %v, %v", ended, err)
			}
			var hook *session.HookError
			if gone := strings.Contains(tt.says, "renamed") || strings.Contains(tt.says, "deleted"); gone != errors.As(err, &hook) {
				t.Errorf("the post hook: %v", err)
			}
			if v := w.allow("s", "Write"); !v.Allowed {
				t.Error("the tools were not given back")
			}
		})
	}
}

func TestDeactivateNothing(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "", "x\n")
	_, err := w.open("s").Deactivate(t.Context(), "", session.User)
	code(t, err, diag.NotFound, "no skill is active")
	w.mustLoad("s", "deploy")
	_, err = w.open("s").Deactivate(t.Context(), "deploi", session.User)
	code(t, err, diag.NotFound, "did you mean deploy?")
	_, err = w.open("").Deactivate(t.Context(), "", session.User)
	code(t, err, diag.Usage, "--session")
}

// TestDeactivateByAnotherName checks that a skill that its agent calls by another name can be ended by any of its
// names.
func TestDeactivateByAnotherName(t *testing.T) {
	w := newFixture(t, "claude-code")
	w.file("project/.skillpm/plugins/acme/tools/deploy/SKILL.md", "---\nname: deploy\ndescription: Theirs.\nallowed-tools: Read\n---\nTheirs.\n")
	w.mustLoad("s", "deploy")
	ended, err := w.open("s").Deactivate(t.Context(), "deploy", session.User)
	if err != nil || !slices.Equal(ended, []string{"tools:deploy"}) {
		t.Errorf("ended %q, %v", ended, err)
	}
}

// TestExactNames checks that the exact name of a pack's skill works in place of any name.
func TestExactNames(t *testing.T) {
	w := newFixture(t, "omniforge")
	w.skill("deploy", "allowed-tools: Read", "Mine.\n")
	w.file("project/.skillpm/plugins/acme/tools/deploy/SKILL.md", "---\nname: deploy\ndescription: Theirs.\nallowed-tools: Read\n---\nTheirs.\n")
	if a := w.mustLoad("s", "deploy"); !strings.Contains(a.Body, "Mine") {
		t.Errorf("%q", a.Body)
	}
	if a := w.mustLoad("s", "deploy@acme/tools"); !strings.Contains(a.Body, "Theirs") {
		t.Errorf("%q", a.Body)
	}
	if a := w.mustLoad("s", "deploy@acme/tools"); !a.Repeated {
		t.Error("it is activated again")
	}
	if ended, err := w.open("s").Deactivate(t.Context(), "deploy@acme/tools", session.User); err != nil || len(ended) != 1 {
		t.Errorf("%v, %v", ended, err)
	}
}
