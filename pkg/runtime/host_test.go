package runtime_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// options returns the options of a host in a new home and project. Files are written below its root.
func options(t *testing.T, files map[string]string) runtime.Options {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(root, "home", "project")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	paths, err := scope.New(scope.Env{Home: filepath.Join(root, "home"), Dir: dir, OS: "linux"})
	if err != nil {
		t.Fatal(err)
	}
	paths.Enterprise = filepath.Join(root, "enterprise")
	return runtime.Options{Environment: environ.Environment{Paths: paths, Dir: dir, Now: time.Now}, User: "ada"}
}

func mustOpen(t *testing.T, o runtime.Options) *runtime.Host {
	t.Helper()
	h, err := runtime.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func text(name, front string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n" + front + "---\nDo $ARGUMENTS.\n"
}

// TestWhereSettingsComeFrom checks that unset options come from the environment, then the settings, then the defaults.
func TestWhereSettingsComeFrom(t *testing.T) {
	env := map[string]string{}
	o := options(t, map[string]string{
		"home/.config/skillpm/config.yaml":    "profile: kodelet\nskills: {max-depth: 1, agent-type: coder}\n",
		"home/.skillpm/skills/a/SKILL.md":     text("a", "scope: {agents: [coder]}\n"),
		"home/.skillpm/skills/b/SKILL.md":     text("b", "scope: {agents: [writer]}\n"),
		"home/.kodelet/skills/k/SKILL.md":     text("k", ""),
		"home/project/.git/x":                 "",
		"home/project/data/skills/p/SKILL.md": text("p", ""),
	})
	o.Getenv = func(name string) string { return env[name] }
	h := mustOpen(t, o)
	if h.Profile().ID != "kodelet" || h.Project() != o.Dir || h.Session().ID() != "" {
		t.Errorf("%s, %s", h.Profile().ID, h.Project())
	}
	if _, err := h.Lookup(t.Context(), "k"); err != nil {
		t.Error(err)
	}
	env["SKILLPM_PROFILE"], env["SKILLPM_SESSION"] = "omniforge", "s"
	h = mustOpen(t, o)
	if h.Profile().ID != "omniforge" || h.Session().ID() != "s" {
		t.Errorf("%s, %s", h.Profile().ID, h.Session().ID())
	}
	none := o
	none.NoSession, none.Session = true, "t"
	if id := mustOpen(t, none).Session().ID(); id != "" {
		t.Errorf("a host of no session has %q", id)
	}
	if _, err := h.Load(t.Context(), "a", session.Activate{}); err != nil {
		t.Error(err)
	}
	if _, err := h.Lookup(t.Context(), "b"); err == nil {
		t.Error("a skill for writers is in force for coders")
	}
	env["SKILLPM_AGENT_TYPE"] = "writer"
	h = mustOpen(t, o)
	if _, err := h.Load(t.Context(), "b", session.Activate{Parent: "a"}); diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "the limit is 1") {
		t.Errorf("the depth of the settings: %v", err)
	}
	o.Profile, o.Session, o.Agent = "pegasus", "other", "coder"
	h = mustOpen(t, o)
	if h.Profile().ID != "pegasus" || h.Session().ID() != "other" || h.CatalogOptions().Agent != "coder" {
		t.Errorf("%s, %s", h.Profile().ID, h.Session().ID())
	}
	if _, err := h.Lookup(t.Context(), "p"); err != nil {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	o := options(t, map[string]string{"home/.config/skillpm/config.yaml": "skills: {max-depth: many}\n"})
	if _, err := runtime.New(t.Context(), o); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("settings that are wrong: %v", err)
	}
	o = options(t, nil)
	o.Profile = "pegasos"
	if _, err := runtime.New(t.Context(), o); diag.CodeOf(err) != diag.Usage || !strings.Contains(diag.HintOf(err), "pegasus") {
		t.Errorf("%v", err)
	}
	o.Profile, o.Config = "", filepath.Join(o.Dir, "none.yaml")
	if _, err := runtime.New(t.Context(), o); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("%v", err)
	}
	o.Config, o.Now = "", nil
	if _, err := runtime.New(t.Context(), o); err == nil {
		t.Error("a host without a clock")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runtime.New(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestNoSkills checks SPEC K4: skills are disabled for one command, or by the settings.
func TestNoSkills(t *testing.T) {
	o := options(t, map[string]string{"home/.skillpm/skills/a/SKILL.md": text("a", "")})
	o.NoSkills = true
	if _, err := mustOpen(t, o).Load(t.Context(), "a", session.Activate{}); diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("%v", err)
	}
	if m, err := mustOpen(t, o).Message(t.Context(), "/a", session.Activate{}); err != nil || m.Kind != runtime.Plain {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestOwnProfile checks that a user's own profile works like a built-in one, and that its tools are never refused.
func TestOwnProfile(t *testing.T) {
	o := options(t, map[string]string{
		"home/.config/skillpm/profiles/mine.yaml": "id: mine\nextends: pegasus\ntitle: Mine\ntrigger:\n  skill:\n    name: summon\n    arguments: [{name: skill, takes: skill}]\n" +
			"layers: [{name: user, dirs: [~/own]}]\n",
		"home/own/a/SKILL.md": text("a", "allowed-tools: Read\n"),
	})
	o.Profile, o.Session = "mine", "s"
	h := mustOpen(t, o)
	if _, err := h.Load(t.Context(), "a", session.Activate{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"summon": true, "Read": true, "Write": false} {
		if v, err := h.Session().Allow(t.Context(), tool.Call{Tool: name}); err != nil || v.Allowed != want {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// TestMessage checks SPEC P8: a user's /name, in the forms of the profiles.
func TestMessage(t *testing.T) {
	o := options(t, map[string]string{
		"home/.claude/skills/review/SKILL.md": text("review", ""), "home/project/skills/review/SKILL.md": text("review", ""),
		"home/.claude/skills/task/SKILL.md": text("task", "context: fork\n"), "home/project/skills/task/SKILL.md": text("task", "context: fork\n"),
		"home/project/skills/help/SKILL.md": text("help", ""), "home/project/skills/quiet/SKILL.md": text("quiet", "user-invocable: false\n"),
		"home/project/.git/x": "", "home/.config/skillpm/config.yaml": "runners: {general: {command: [cat]}}\n",
	})
	o.Environ = os.Environ
	for _, tt := range []struct {
		profile, text string
		kind, want    string // the beginning of it
	}{
		{"pegasus", "/review PR 42", runtime.Skill, "[Skill: review]\n\nDo PR 42."},
		{"pegasus", "  /review\tPR 42\n", runtime.Skill, "[Skill: review]\n\nDo PR 42."},
		{"pegasus", "/review", runtime.Skill, "[Skill: review]\n\nDo ."},
		{"pegasus", "/help", runtime.Plain, "/help"}, // the host keeps this name
		{"pegasus", "/unknown x", runtime.Plain, "/unknown x"},
		{"pegasus", "/", runtime.Plain, "/"},
		{"pegasus", "/etc/hosts is a file", runtime.Plain, "/etc/hosts"},
		{"pegasus", "see /review", runtime.Plain, "see /review"},
		{"pegasus", "", runtime.Plain, ""},
		{"claude-code", "/review PR 42", runtime.Skill, "Base directory for this skill: " + filepath.Join(o.Paths.Home, ".claude/skills/review") + "\n\nDo PR 42."},
	} {
		o.Profile = tt.profile
		m, err := mustOpen(t, o).Message(t.Context(), tt.text, session.Activate{})
		if err != nil || m.Kind != tt.kind || !strings.HasPrefix(m.Text, tt.want) {
			t.Errorf("%s %q: %+v, %v", tt.profile, tt.text, m, err)
		}
	}
	o.Profile = "pegasus"
	if _, err := mustOpen(t, o).Message(t.Context(), "/quiet", session.Activate{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("%v", err)
	}
}

// TestTrust checks that a project's skills count only in trusted folders, if the settings require trust.
func TestTrust(t *testing.T) {
	o := options(t, map[string]string{"home/project/.skillpm/skills/a/SKILL.md": text("a", "")})
	trust := func(folders string) error {
		o.Config = filepath.Join(o.Dir, "config.yaml")
		if err := os.WriteFile(o.Config, []byte("skills: {trusted-projects: true}\ntrusted-folders: "+folders+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := mustOpen(t, o).Lookup(t.Context(), "a")
		return err
	}
	if err := trust("[]"); diag.CodeOf(err) != diag.Denied {
		t.Errorf("not trusted: %v", err)
	}
	if err := trust("[" + filepath.Join(o.Paths.Home, "proj") + "]"); diag.CodeOf(err) != diag.Denied {
		t.Errorf("another is trusted: %v", err)
	}
	if err := trust("[" + o.Dir + "]"); err != nil {
		t.Errorf("trusted: %v", err)
	}
}

// TestReload checks that the next host sees changes on disk, and this one does after a reload.
func TestReload(t *testing.T) {
	o := options(t, map[string]string{"home/.skillpm/skills/a/SKILL.md": text("a", "")})
	h := mustOpen(t, o)
	if _, err := h.Lookup(t.Context(), "b"); err == nil {
		t.Fatal("b is there")
	}
	path := filepath.Join(o.Paths.Home, ".skillpm/skills/b/SKILL.md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text("b", "")), 0o644)); err != nil {
		t.Fatal(err)
	}
	h.Reload()
	if _, err := h.Lookup(t.Context(), "b"); err != nil {
		t.Error(err)
	}
}

// TestEveryProfile checks SPEC O26: every profile serves the same skill in its own form, without a particular model,
// agent, or vendor.
func TestEveryProfile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "skills", "deploy", "SKILL.md")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text("deploy", "")), 0o644)); err != nil {
		t.Fatal(err)
	}
	all, err := profile.Agents()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		o := options(t, nil)
		o.Profile, o.Session = p.ID, "s"
		o.Layers = []profile.Layer{{Name: "user", Dirs: []string{filepath.Join(dir, "skills")}}}
		h := mustOpen(t, o)
		if l, err := h.Prompt(t.Context(), prompt.Options{}); err != nil || !strings.Contains(l.Text, "deploy") {
			t.Errorf("%s: stage 1 %q, %v", p.ID, l.Text, err)
		}
		a, err := h.Load(t.Context(), "deploy", session.Activate{Arguments: "it"})
		if err != nil {
			t.Errorf("%s: %v", p.ID, err)
			continue
		}
		data, err := prompt.JSON(h.Profile(), a.Result())
		if got := prompt.Text(h.Profile(), a.Result()); err != nil || len(data) == 0 || !strings.Contains(got, "Do ") {
			t.Errorf("%s: stage 2 %q, %s, %v", p.ID, got, data, err)
		}
		if a, err := h.Load(t.Context(), "deploy", session.Activate{}); err != nil || !a.Repeated {
			t.Errorf("%s: activated anew: %v", p.ID, err)
		}
		if f, err := h.Read(t.Context(), "deploy", "SKILL.md"); err != nil || !strings.HasPrefix(string(f.Data), "---") {
			t.Errorf("%s: stage 3 %v", p.ID, err)
		}
	}
}

// TestO7Order checks SPEC O7: the skills that were activated recently are listed first, then those of the project.
func TestO7Order(t *testing.T) {
	o := options(t, map[string]string{
		"home/.skillpm/skills/a/SKILL.md": text("a", ""), "home/.skillpm/skills/z/SKILL.md": text("z", ""),
		"home/project/.skillpm/skills/p/SKILL.md": text("p", ""), "home/project/.git/HEAD": "",
	})
	now := time.Now().Add(-40 * 24 * time.Hour)
	o.Now = func() time.Time { return now }
	names := func() string {
		l, err := mustOpen(t, o).Prompt(t.Context(), prompt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(l.Names, " ")
	}
	if got := names(); got != "p a z" {
		t.Errorf("unused: %s", got)
	}
	for _, name := range []string{"a", "z"} {
		if _, err := mustOpen(t, o).Load(t.Context(), name, session.Activate{}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(35 * 24 * time.Hour)
	}
	now = now.Add(-35 * 24 * time.Hour)
	if got := names(); got != "z p a" {
		t.Errorf("z was used recently, and a is long ago: %s", got)
	}
}
