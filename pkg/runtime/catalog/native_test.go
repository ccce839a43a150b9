package catalog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/profile"
)

const linked = `
link app/.claude/skills/deploy ../../.skillpm/plugins/acme/skills/deploy
link app/.agents/skills/deploy ../../.skillpm/plugins/acme/skills/deploy
link app/.claude/skills/zeta-deploy ../../.skillpm/links/zeta-deploy
link home/.claude/skills/ops ../../.skillpm/plugins/zeta/skills/deploy
-- app/.skillpm/plugins/acme/skills/deploy/SKILL.md --
acme
-- home/.skillpm/plugins/zeta/skills/deploy/SKILL.md --
zeta
-- home/.gemini/skills/deploy/SKILL.md --
personal
-- home/.claude/skills/lint/SKILL.md --
personal
-- app/.claude/skills/lint/SKILL.md --
project
-- app/.claude/skills/other/SKILL.md --
---
name: lint
description: declared
---
Body.
`

// TestO18At checks that a directory identifies a skill, whatever links lead there.
func TestO18At(t *testing.T) {
	w := newFixture(t, "claude-code", linked)
	c := w.open()
	for path, want := range map[string]string{
		"app/.claude/skills/deploy":                       "deploy@acme/skills",
		"app/.agents/skills/deploy/SKILL.md":              "deploy@acme/skills",
		"app/.skillpm/plugins/acme/skills/deploy":         "deploy@acme/skills",
		"home/.claude/skills/ops/SKILL.md":                "deploy@zeta/skills",
		"home/.skillpm/plugins/zeta/skills/deploy":        "deploy@zeta/skills",
		"app/.claude/skills/lint":                         "lint",
		"app/.claude/skills/missing":                      "",
		"home/.gemini/skills/deploy":                      "",
		"app/.skillpm/plugins/acme/skills/deploy/scripts": "",
	} {
		e, ok := c.At(w.path(path))
		if ok != (want != "") || ok && e.Exact() != want {
			t.Errorf("%s is %+v, %v, want %s", path, e, ok, want)
		}
	}
	if e, _ := c.At(w.path("app/.claude/skills/lint")); e.Description != "project" {
		t.Errorf("got %+v", e)
	}
}

// TestO18AtCopy checks that the copies of a pack's skills in an agent's directory are that skill.
func TestO18AtCopy(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- app/.skillpm/plugins/acme/ops/deploy/SKILL.md --
acme
-- app/.claude/skills/deploy/SKILL.md --
acme
`)
	e, ok := w.open().At(w.path("app/.claude/skills/deploy"))
	if !ok || e.Exact() != "deploy@acme/ops" {
		t.Errorf("got %+v, %v", e, ok)
	}
}

// TestNativeOrder checks that each agent's profile has the order in which that agent takes one of several skills with
// one name: Claude Code the user's, Gemini CLI and Copilot the project's.
func TestNativeOrder(t *testing.T) {
	for id, want := range map[string]struct{ name, first string }{
		"claude-code": {"lint", "personal"}, "copilot": {"lint", "project"}, "gemini": {"deploy", "acme"},
	} {
		w := newFixture(t, id, linked)
		found, unknown := w.open().Native(want.name)
		if len(found) == 0 || len(unknown) > 0 || found[0].Description != want.first {
			t.Errorf("%s: %+v, %v", id, found, unknown)
		}
	}
	w := newFixture(t, "claude-code", linked)
	c := w.open()
	if err := os.MkdirAll(w.path("home/.claude/skills/late"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("home/.claude/skills/late/SKILL.md", "written after the catalog was made")
	if found, unknown := c.Native("late"); len(found) > 0 || len(unknown) != 1 || unknown[0] != w.path("home/.claude/skills/late") {
		t.Errorf("got %+v, %v", found, unknown)
	}
	if found, _ := c.Native(filepath.Join("..", "skills", "lint")); len(found) > 0 {
		t.Errorf("got %+v", found)
	}
	p, err := profile.Lookup("codex")
	if err != nil || !p.Unordered {
		t.Errorf("got %+v, %v", p, err)
	}
}
