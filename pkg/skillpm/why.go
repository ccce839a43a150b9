package skillpm

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/graph"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// WhyReport says why something is installed.
type WhyReport struct {
	Scope    string   `json:"scope"`
	Root     string   `json:"root"`
	Name     string   `json:"name"`  // as it was asked for
	Found    []Why    `json:"found"` // the pack, or the skills of that name: the one that has it first
	Warnings []string `json:"warnings"`
}

// Why is why a pack is installed, and what one of its skills is called.
type Why struct {
	Pack    string      `json:"pack"`
	Version string      `json:"version"`
	Source  string      `json:"source"`
	Linked  string      `json:"linked,omitempty"` // the directory that it is linked to
	Skill   *WhySkill   `json:"skill,omitempty"`  // where a skill was asked for
	Chains  [][]WhyStep `json:"chains"`           // from skillpm.yaml to the pack, the shortest first; none if it is not required
	More    int         `json:"more"`             // chains that there are besides
	AtLeast bool        `json:"atLeast"`          // there are that many or more
}

// WhyStep is a pack in a chain of requirements.
type WhyStep struct {
	Pack    string `json:"pack"`
	Version string `json:"version"`
	Range   string `json:"range"`         // what the one before requires: versions, or a place, and skills in brackets
	Dev     bool   `json:"dev,omitempty"` // for development only
}

// WhySkill is a skill and why agents know it under the name that they do.
type WhySkill struct {
	Name    string            `json:"name"`
	Link    string            `json:"link"`             // the name that agents see
	InForce bool              `json:"inForce"`          // its own name means this skill
	Winner  string            `json:"winner,omitempty"` // the other pack whose skill the name means
	Others  map[string]string `json:"others"`           // other packs with a skill of that name -> what agents see of it
	Reason  string            `json:"reason"`
}

// Why says why a pack (owner/name) or a skill (its name, the alias that agents see, or skill@owner/name) is installed.
func (c *Client) Why(_ context.Context, name, scopeKind string) (*WhyReport, error) {
	w, l, err := c.installed(scopeKind)
	if err != nil {
		return nil, err
	}
	g, err := newGraph(w.Manifest, l)
	if err != nil {
		return nil, err
	}
	r := &WhyReport{Scope: w.Scope.Kind, Root: w.Scope.Root, Name: name, Found: []Why{}, Warnings: warnings(l)}
	if strings.Contains(name, "/") && !strings.Contains(name, "@") {
		id, err := pack.ParseID(name)
		if err != nil {
			return nil, err
		}
		if l.Packs[id] == nil {
			return nil, notInstalled(id, w.Manifest, l)
		}
		r.Found = append(r.Found, why(g, l, id))
		return r, nil
	}
	skills, err := skillsNamed(name, l)
	if err != nil {
		return nil, err
	}
	names := newSkillNames(w.Manifest, l)
	for _, s := range skills {
		found := why(g, l, s.Pack)
		found.Skill = names.explain(s)
		r.Found = append(r.Found, found)
	}
	return r, nil
}

// skillsNamed returns the skills that a name may mean, the one that agents know under it first.
func skillsNamed(name string, l *workspace.Layout) ([]pack.NamedSkill, error) {
	skill, pk, exact := strings.Cut(name, "@")
	var id pack.ID
	if exact {
		var err error
		if id, err = pack.ParseID(pk); err != nil {
			return nil, err
		}
	}
	var found []pack.NamedSkill
	for _, n := range l.Named {
		if n.Skill == skill && (!exact || n.Pack == id) || !exact && n.Link == skill {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		return nil, noSuchName(name, skill, l)
	}
	slices.SortFunc(found, func(a, b pack.NamedSkill) int {
		if first := a.Link == skill; first != (b.Link == skill) {
			if first {
				return -1
			}
			return 1
		}
		return a.Pack.Compare(b.Pack)
	})
	return found, nil
}

// noSuchName is noSuchSkill, for a name that may be that of a pack without its owner.
func noSuchName(name, skill string, l *workspace.Layout) error {
	for _, id := range slices.SortedFunc(maps.Keys(l.Packs), pack.ID.Compare) {
		if id.Name == name {
			return diag.Errorf(diag.NotFound, "no skill %s is installed", name).WithHint("did you mean the pack %s?", id)
		}
	}
	return noSuchSkill(name, skill, l)
}

// why describes a pack.
func why(g *graph.Graph, l *workspace.Layout, id pack.ID) Why {
	p := l.Packs[id]
	out := Why{Pack: id.String(), Version: p.Version, Source: p.Source, Chains: [][]WhyStep{}}
	if linked := l.Linked[id]; linked != nil {
		out.Linked = linked.Dir
	}
	reasons := g.Why(id)
	out.More, out.AtLeast = reasons.More, reasons.Open
	for _, chain := range reasons.Chains {
		steps := make([]WhyStep, len(chain))
		for i, s := range chain {
			steps[i] = WhyStep{Pack: s.ID.String(), Version: s.Version, Range: s.Constraint, Dev: s.Dev}
		}
		out.Chains = append(out.Chains, steps)
	}
	return out
}
