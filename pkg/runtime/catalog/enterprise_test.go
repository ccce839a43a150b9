package catalog_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

const overriding = `
-- machine/skills/deploy/SKILL.md --
machine
-- app/.skillpm/plugins/acme/deploy/deploy/SKILL.md --
acme
-- app/.skillpm/plugins/globex/ops/deploy/SKILL.md --
globex
-- app/.claude/skills/deploy/SKILL.md --
project
`

// TestO5NoBypass checks that an enterprise skill shadows all skills of its name: no exact name, alias, or name with a
// pack activates another one.
func TestO5NoBypass(t *testing.T) {
	for _, id := range []string{"omniforge", "claude-code", "agentskills"} {
		w := newFixture(t, id, overriding)
		w.write("app/skillpm.lock", lockOf(t, "globex/ops", "acme/deploy", "acme"))
		c := w.expect("deploy=machine")
		for _, name := range []string{
			"deploy@acme/deploy", "deploy@globex/ops", "acme-deploy@acme/deploy", "acme-deploy", "ops:deploy", "deploy:deploy",
		} {
			s, err := c.Lookup(name)
			if s != nil || err == nil {
				t.Errorf("%s, %s: got %+v, %v", id, name, s, err)
			}
		}
		_, err := c.Lookup("deploy@acme/deploy")
		if diag.CodeOf(err) != diag.Denied || diag.HintOf(err) != "use the enterprise skill deploy" ||
			err.Error() != `skill "deploy@acme/deploy" is not available: the enterprise skill deploy overrides it` {
			t.Errorf("%s: got %v, %s", id, err, diag.HintOf(err))
		}
		for _, e := range c.All() {
			if (e.Refusal() == nil) != (e.State == catalog.Available) {
				t.Errorf("%s: %s is %s, refusal %v", id, e.Dir, e.State, e.Refusal())
			}
		}
	}
}

// TestO5NoBypassByFilter checks that neither an unknown environment, nor the user's settings, nor a policy, nor a
// profile that cannot use the enterprise skill gives its name to another skill.
func TestO5NoBypassByFilter(t *testing.T) {
	for name, test := range map[string]struct {
		head   string
		change func(*catalog.Options)
		want   string // available skills
	}{
		"unknown": {
			"scope: {environments: [production], agents: [coder], tenants: [eu]}", func(*catalog.Options) {}, "deploy=machine",
		},
		"other environment": {
			"scope: {environments: [production]}", func(o *catalog.Options) { o.Environment = "test" }, "deploy=project",
		},
		"allowed by the user": {
			"tags: [x]", func(o *catalog.Options) { o.Allowed = []string{"deploy@globex/ops"} }, "deploy=machine",
		},
		"allowed by the machine": {
			"tags: [x]", func(o *catalog.Options) { o.MachineAllowed = []string{"other"} }, "",
		},
		"requirements": {
			"metadata: {openclaw: {requires: {bins: [no-such-program]}}}", func(o *catalog.Options) { o.HideUnmet = true }, "",
		},
		"policy": {
			"tags: [x]", func(o *catalog.Options) {
				o.Deny = func(s *catalog.Skill) error {
					if s.Layer == "enterprise" {
						return diag.Errorf(diag.Denied, "denied")
					}
					return nil
				}
			}, "",
		},
		"profile": {"tags: [x]", func(o *catalog.Options) {
			p := *o.Profile
			p.Require = []string{"argument-hint"}
			o.Profile = &p
		}, ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			w := newFixture(t, "omniforge", overriding)
			w.write("machine/skills/deploy/SKILL.md", "---\nname: deploy\ndescription: machine\n"+test.head+"\n---\nBody.\n")
			test.change(&w.options)
			c := w.expect(test.want)
			if s, err := c.Lookup("deploy@globex/ops"); !strings.HasSuffix(test.want, "project") && err == nil {
				t.Errorf("got %+v", s)
			}
		})
	}
}
