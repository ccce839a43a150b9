package serve

import (
	"reflect"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// TestRemovals checks that a pack is removed only if none of its skills was used, and that skills of the machine and
// local skills are left alone.
func TestRemovals(t *testing.T) {
	now := time.Now()
	skill := func(name, pack, scope string) *catalog.Skill {
		return &catalog.Skill{Name: name, Pack: pack, Scope: scope}
	}
	all := []*catalog.Skill{
		skill("a", "acme/unused", catalog.ScopeProject), skill("b", "acme/unused", catalog.ScopeProject),
		skill("c", "acme/partly", catalog.ScopeProject), skill("d", "acme/partly", catalog.ScopeProject),
		skill("e", "acme/mine", catalog.ScopeUser),
		skill("f", "acme/fleet", catalog.ScopeMachine),
		skill("g", "", catalog.ScopeProject),
	}
	use := &logUsage{recent: map[skillKey]audit.Usage{{"d", "acme/partly"}: {Last: &now}}}
	unused := []*catalog.Skill{all[0], all[1], all[2], all[4], all[5], all[6]}
	got := removals(all, unused, use)
	want := []string{
		"skillpm remove acme/mine --scope user", "skillpm remove acme/unused", "skillpm deny " + all[2].Exact(),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
