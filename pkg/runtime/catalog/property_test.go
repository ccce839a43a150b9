package catalog_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// TestO5Property checks for any layout that the available skill is the strongest that no filter excludes, that no skill
// is lost, and that every name has one winner.
func TestO5Property(t *testing.T) {
	w := newFixture(t, "omniforge", "")
	w.options.Cache = w.path("cache") // one index for all that is tried
	places := []struct {
		dir  string
		rank int
	}{
		{"machine/skills", 0},
		{"home/.omniforge/enterprise/skills", 1},
		{"home/.skillpm/skills", 2},
		{"home/.omniforge/skills", 2},
		{"home/.agents/skills", 2},
		{"app/.skillpm/skills", 3},
		{"app/.claude/skills", 3},
		{"home/.skillpm/plugins/acme/ops", 4},
	}
	rapid.Check(t, func(rt *rapid.T) {
		for _, dir := range []string{"machine", "home", "cache"} {
			if dir != "cache" || rapid.IntRange(0, 9).Draw(rt, "forget") == 0 {
				if err := os.RemoveAll(w.path(dir)); err != nil {
					rt.Fatal(err)
				}
			}
		}
		type one struct{ rank, priority, order int }
		best, found := map[string]one{}, 0
		for order, p := range places {
			for _, name := range []string{"a", "b", "c"} {
				if rapid.Bool().Draw(rt, "there") {
					continue
				}
				s := one{p.rank, rapid.IntRange(-1, 2).Draw(rt, "priority"), order}
				other := rapid.IntRange(0, 3).Draw(rt, "scoped") == 0
				scoped := other && p.rank > 1 // an enterprise skill counts while the type of agent is not known
				text := fmt.Sprintf("---\nname: %s\ndescription: %d\npriority: %d\n", name, order, s.priority)
				if other {
					text += "scope: {agents: [other]}\n"
				}
				w.write(p.dir+"/"+name+"/SKILL.md", text+"---\n")
				found++
				if b, ok := best[name]; !scoped && (!ok || b.rank == s.rank && s.priority > b.priority) {
					best[name] = s
				}
			}
		}
		c := w.open()
		if len(c.All()) != found || len(c.Skills()) != len(best) {
			rt.Fatalf("%d of %d found, %d of %d in force", len(c.All()), found, len(c.Skills()), len(best))
		}
		for name, want := range best {
			s, err := c.Lookup(name)
			if err != nil || s.Description != fmt.Sprint(want.order) || s.Rank != want.rank {
				rt.Fatalf("%s is %+v, %v, want the one in %s", name, s, err, places[want.order].dir)
			}
			claims := c.Which(name)
			for _, e := range claims.All()[1:] {
				if e.Reason == "" || (e.State == catalog.Shadowed) != (len(e.Agents) == 0 || e.Rank < 2) || e.State == catalog.Shadowed && e.By != s {
					rt.Fatalf("%s: %+v", name, e)
				}
			}
		}
		if strings.Contains(strings.Join(messages(c), " "), "skipped") {
			rt.Fatal(messages(c))
		}
	})
}
