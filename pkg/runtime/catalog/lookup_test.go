package catalog_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

// TestO18Names checks every form of a name that stands for a pack's skill. The name of a pack without its owner never
// decides between two packs.
func TestO18Names(t *testing.T) {
	for _, id := range []string{"omniforge", "claude-code"} {
		w := newFixture(t, id, `
-- app/.skillpm/plugins/acme/skills/deploy/SKILL.md --
acme
-- home/.skillpm/plugins/zeta/skills/deploy/SKILL.md --
zeta
-- home/.skillpm/plugins/zeta/skills/review/SKILL.md --
zeta-review
-- app/.skillpm/plugins/globex/ops/rollout/SKILL.md --
rollout
-- home/.skillpm/plugins/globex/ops/rollout/SKILL.md --
shadowed
-- app/.skillpm/plugins/globex/check/check/SKILL.md --
check
-- app/.skillpm/plugins/globex/check/extra/SKILL.md --
extra
-- app/.skillpm/plugins/initech/tps/report/SKILL.md --
report
-- app/.skillpm/plugins/initech/many/one/SKILL.md --
one
-- app/.skillpm/plugins/initech/many/two/SKILL.md --
two
`)
		c := w.open()
		for name, want := range map[string]string{
			"rollout@ops": "rollout", "globex/rollout": "rollout", "rollout@globex/ops": "rollout",
			"globex/check": "check", "globex/extra": "extra", "initech/tps": "report", "initech/two": "two",
			"deploy@acme/skills": "acme", "deploy@zeta/skills": "zeta", "acme/deploy": "acme", "zeta/deploy": "zeta",
			"acme/skills": "acme",
		} {
			if s, err := c.Lookup(name); err != nil || s.Description != want {
				t.Errorf("%s, %s: got %+v, %v", id, name, s, err)
			}
			if claims := c.Which(name); len(claims.All()) == 0 || claims.All()[0].Description != want {
				t.Errorf("%s, %s: which is %+v", id, name, claims)
			}
		}
		for name, want := range map[string]string{
			"deploy@skills": "several installed packs match the name: acme/skills, zeta/skills; " +
				"use deploy@acme/skills or deploy@zeta/skills",
			"review@skills": "several installed packs match the name: acme/skills, zeta/skills; use review@zeta/skills",
			"initech/many": "several skills match the name: one@initech/many, two@initech/many; " +
				"use one@initech/many or two@initech/many",
		} {
			s, err := c.Lookup(name)
			unknown := diag.CodeOf(err) == diag.NotFound && err.Error()+"; "+diag.HintOf(err) ==
				`skill "`+name+`" is not available: `+want
			if s != nil || !unknown {
				t.Errorf("%s, %s: got %+v, %v; %s", id, name, s, err, diag.HintOf(err))
			}
		}
		if id == "claude-code" {
			if s, err := c.Lookup("ops:rollout"); err != nil || s.Description != "rollout" {
				t.Errorf("got %+v, %v", s, err)
			}
			for _, name := range []string{"skills:deploy", "skills:review"} {
				if s, err := c.Lookup(name); err == nil {
					t.Errorf("%s is %+v", name, s)
				}
			}
		}
	}
}

// TestO18LockedName checks that a pack that is locked but not installed keeps its name ambiguous.
func TestO18LockedName(t *testing.T) {
	w := newFixture(t, "omniforge", `
-- app/.skillpm/plugins/acme/deploy/deploy/SKILL.md --
acme
-- home/.skillpm/plugins/zeta/ops/deploy/SKILL.md --
zeta
`)
	w.write("app/skillpm.lock", lockOf(t, "globex/ops", "acme/deploy", "acme"))
	c := w.open()
	if s, err := c.Lookup("deploy@ops"); err == nil || diag.HintOf(err) != "use deploy@globex/ops or deploy@zeta/ops" {
		t.Errorf("got %+v, %v", s, err)
	}
	if s, err := c.Lookup("globex/deploy"); err == nil || diag.HintOf(err) != `run "skillpm install"` {
		t.Errorf("got %+v, %v", s, err)
	}
}
