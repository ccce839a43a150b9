package skillpm

import (
	"fmt"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// skillNames says who has which name in a scope.
type skillNames struct {
	manifest *pack.Manifest
	layout   *workspace.Layout
	order    map[pack.ID]int  // from 1, of those that win over all others: the later one has the name
	linked   map[pack.ID]bool // those of them that the manifest does not have
}

// newSkillNames puts in order what the manifest requires itself: what is linked besides comes last.
func newSkillNames(m *pack.Manifest, l *workspace.Layout) *skillNames {
	n := &skillNames{manifest: m, layout: l, order: map[pack.ID]int{}, linked: map[pack.ID]bool{}}
	var ids []pack.ID
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		ids = append(ids, d.ID)
	}
	for _, id := range slices.SortedFunc(maps.Keys(l.Linked), pack.ID.Compare) {
		if _, ok := m.Dependency(id); !ok {
			n.linked[id] = true
			ids = append(ids, id)
		}
	}
	for i, id := range ids {
		if n.order[id] == 0 {
			n.order[id] = i + 1
		}
	}
	return n
}

// explain says why agents know a skill under the name that they do.
func (n *skillNames) explain(s pack.NamedSkill) *WhySkill {
	out := &WhySkill{Name: s.Skill, Link: s.Link, InForce: s.Bare, Others: map[string]string{}}
	for _, other := range n.layout.Named {
		if other.Skill == s.Skill && other.Pack != s.Pack {
			out.Others[other.Pack.String()] = other.Link
			if other.Bare {
				out.Winner = other.Pack.String()
			}
		}
	}
	_, chosen := n.alias(s)
	switch {
	case s.Bare && len(out.Others) == 0:
		out.Reason = "no other installed pack has a skill of that name"
	case s.Bare:
		out.Reason = n.won(s.Pack, n.rivals(s))
	case chosen:
		out.Reason = fmt.Sprintf("skillpm.yaml gives it the alias %s", s.Link)
	default:
		winner, _ := pack.ParseID(out.Winner) // an empty name is nobody's
		out.Reason = n.won(winner, []pack.ID{s.Pack})
	}
	return out
}

// alias returns the alias that the manifest gives to a skill.
func (n *skillNames) alias(s pack.NamedSkill) (string, bool) {
	for _, a := range n.manifest.Aliases {
		if a.Pack == s.Pack && a.Skill == s.Skill {
			return a.Alias, true
		}
	}
	return "", false
}

// rivals returns the other packs that would have the name if this one had not: those without an alias in the manifest.
func (n *skillNames) rivals(s pack.NamedSkill) []pack.ID {
	var rivals []pack.ID
	for _, other := range n.layout.Named {
		if _, chosen := n.alias(other); other.Skill == s.Skill && other.Pack != s.Pack && !chosen {
			rivals = append(rivals, other.Pack)
		}
	}
	return rivals
}

// won says why one of several packs has a name.
func (n *skillNames) won(winner pack.ID, losers []pack.ID) string {
	if len(losers) == 0 {
		return "skillpm.yaml gives the others an alias"
	}
	var latest pack.ID // of those that win over all others
	for _, id := range losers {
		if n.order[id] > n.order[latest] {
			latest = id
		}
	}
	switch {
	case n.linked[winner]:
		return fmt.Sprintf("%s is linked, as if it had been installed last", winner)
	case n.order[winner] > 0 && !latest.IsZero():
		return fmt.Sprintf("skillpm.yaml names %s after %s", winner, latest)
	case n.order[winner] > 0:
		return fmt.Sprintf("skillpm.yaml itself requires %s", winner)
	}
	return fmt.Sprintf("no pack that has it is required by skillpm.yaml itself, and %s is the first by name", winner)
}
