package skillpm

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/graph"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// WhyReport says why a pack or skill is installed.
type WhyReport struct {
	Scope    string   `json:"scope"`
	Root     string   `json:"root"`
	Name     string   `json:"name"`  // the argument
	Found    []Why    `json:"found"` // the pack, or the skills of that name, the one that agents know under it first
	Warnings []string `json:"warnings"`
}

// Why says why a pack is installed, and what the name of one of its skills is.
type Why struct {
	Pack    string    `json:"pack"`
	Version string    `json:"version"`
	Source  string    `json:"source"`
	Linked  string    `json:"linked,omitempty"` // the directory that it is linked to
	Skill   *WhySkill `json:"skill,omitempty"`  // if the name is that of a skill
	// from skillpm.yaml to the pack, the shortest first; none if it is not required
	Chains  [][]WhyStep `json:"chains"`
	More    int         `json:"more"`    // the number of other chains
	AtLeast bool        `json:"atLeast"` // More is a lower bound
}

// WhyStep is a pack in a chain of requirements.
type WhyStep struct {
	Pack    string `json:"pack"`
	Version string `json:"version"`
	Range   string `json:"range"`         // what the one before requires: versions, or a place, and skills in brackets
	Dev     bool   `json:"dev,omitempty"` // for development only
}

// WhySkill is a skill, and why agents know it under its name.
type WhySkill struct {
	Name    string `json:"name"`
	Link    string `json:"link"`             // the name that agents see
	OwnName bool   `json:"ownName"`          // its own name means this skill
	Winner  string `json:"winner,omitempty"` // the other pack whose skill the name means
	// other packs with a skill of that name -> what agents see of it
	Others map[string]string `json:"others"`
	Reason string            `json:"reason"`
}

// Why explains why a pack (owner/name) or a skill (its name, its alias, or skill@owner/name) is installed.
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
		if l.Packs[id] != nil {
			r.Found = append(r.Found, why(g, l, id))
			return r, nil
		}
		if skills, err := skillsNamed(name, l); err != nil || len(skills) == 0 {
			return nil, cmp.Or(err, notInstalled(id, w.Manifest, l))
		}
	}
	skills, err := skillsNamed(name, l)
	if err != nil {
		return nil, err
	}
	skill, _, _ := strings.Cut(name, "@")
	if len(skills) == 0 {
		return nil, noSuchName(name, skill, l)
	}
	slices.SortFunc(skills, func(a, b pack.NamedSkill) int { // the one that agents know under the name is first
		if first := a.Link == skill; first != (b.Link == skill) {
			if first {
				return -1
			}
			return 1
		}
		return a.Pack.Compare(b.Pack)
	})
	names := newSkillNames(w.Manifest, l)
	for _, s := range skills {
		found := why(g, l, s.Pack)
		found.Skill = names.explain(s)
		r.Found = append(r.Found, found)
	}
	return r, nil
}

// skillsNamed returns the skills that a name may mean, in the order of the layout: a bare name, skill@owner/name, or
// skill@NAME and owner/skill, which must stand for one skill.
func skillsNamed(name string, l *workspace.Layout) (found []pack.NamedSkill, err error) {
	skill, inPack, qualified := strings.Cut(name, "@")
	owner, owned, hasOwner := strings.Cut(name, "/")
	packs := map[string]bool{}
	for _, n := range l.Named {
		named := n.Skill == skill || n.Link == skill
		switch {
		case qualified && !strings.Contains(inPack, "/"):
			named = named && n.Pack.Name == inPack
		case qualified:
			named = named && n.Pack.String() == inPack
		case hasOwner:
			named = n.Pack.Owner == owner && (n.Skill == owned || n.Link == owned)
		}
		if named {
			found, packs[n.Pack.String()] = append(found, n), true
		}
	}
	if len(found) == 0 && strings.Contains(inPack, "/") {
		_, err = pack.ParseID(inPack)
		return nil, err
	}
	for _, id := range sortedIDs(l.Packs) {
		if qualified && id.Name == inPack && len(found) > 0 {
			packs[id.String()] = true
		}
	}
	if (qualified || hasOwner) && len(packs) > 1 {
		return nil, diag.Errorf(diag.NotFound, "several installed packs match %s: %s", name,
			strings.Join(slices.Sorted(maps.Keys(packs)), ", ")).WithHint("use skill@owner/name")
	}
	return found, nil
}

// noSuchName is noSuchSkill for a name that may be that of a pack without its owner.
func noSuchName(name, skill string, l *workspace.Layout) error {
	for _, id := range sortedIDs(l.Packs) {
		if id.Name == name {
			return diag.Errorf(diag.NotFound, "skill %q is not installed", name).
				WithHint("did you mean the pack %s?", id)
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

// skillNames explains the names of the skills in a scope.
type skillNames struct {
	manifest *pack.Manifest
	layout   *workspace.Layout
	order    map[pack.ID]int  // from 1, of those that win over all others: the later one has the name
	linked   map[pack.ID]bool // those of them that the manifest does not have
}

// newSkillNames orders the packs that the manifest requires, followed by the linked ones.
func newSkillNames(m *pack.Manifest, l *workspace.Layout) *skillNames {
	n := &skillNames{manifest: m, layout: l, order: map[pack.ID]int{}, linked: map[pack.ID]bool{}}
	var ids []pack.ID
	for _, d := range slices.Concat(m.Dependencies, m.DevDependencies) {
		ids = append(ids, d.ID)
	}
	for _, id := range sortedIDs(l.Linked) {
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

// explain says why agents know a skill under its name.
func (n *skillNames) explain(s pack.NamedSkill) *WhySkill {
	out := &WhySkill{Name: s.Skill, Link: s.Link, OwnName: s.Bare, Others: map[string]string{}}
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
		out.Reason = "no other installed pack has a skill with this name"
	case s.Bare:
		out.Reason = n.reasonFor(s.Pack, n.rivals(s))
	case chosen:
		out.Reason = fmt.Sprintf("skillpm.yaml gives the skill the alias %s", s.Link)
	default:
		winner, _ := pack.ParseID(out.Winner) // an empty name matches nothing
		out.Reason = n.reasonFor(winner, []pack.ID{s.Pack})
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

// rivals returns the other packs with a skill of that name: those without an alias in the manifest.
func (n *skillNames) rivals(s pack.NamedSkill) []pack.ID {
	var rivals []pack.ID
	for _, other := range n.layout.Named {
		if _, chosen := n.alias(other); other.Skill == s.Skill && other.Pack != s.Pack && !chosen {
			rivals = append(rivals, other.Pack)
		}
	}
	return rivals
}

// reasonFor says why one of several packs has a name.
func (n *skillNames) reasonFor(winner pack.ID, losers []pack.ID) string {
	if len(losers) == 0 {
		return "skillpm.yaml gives aliases to the other skills"
	}
	var latest pack.ID // of those that win over all others
	for _, id := range losers {
		if n.order[id] > n.order[latest] {
			latest = id
		}
	}
	switch {
	case n.linked[winner]:
		return fmt.Sprintf("%s is linked, and linked packs take precedence", winner)
	case n.order[winner] > 0 && !latest.IsZero():
		return fmt.Sprintf("skillpm.yaml lists %s after %s", winner, latest)
	case n.order[winner] > 0:
		return fmt.Sprintf("only %s is a direct dependency of skillpm.yaml", winner)
	}
	return fmt.Sprintf("none of the packs is a direct dependency, and %s is first by name", winner)
}

// GraphOptions select a part of the graph.
type GraphOptions struct {
	Scope  string // scope.KindProject or scope.KindUser; "" means the project
	Invert string // owner/name: only what requires this pack
	Depth  int    // steps from the manifest, or from that pack; 0 for any
}

// GraphReport is the graph of the installed packs, or a part of it.
type GraphReport struct {
	Scope string `json:"scope"`
	Root  string `json:"root"` // the directory
	graph.Document
	Warnings []string `json:"warnings"`

	All  *graph.Graph `json:"-"`
	Part *graph.Graph `json:"-"` // what Document is of
	Pack pack.ID      `json:"-"` // that of Invert, if there is one
}

// Graph returns which installed pack requires which.
func (c *Client) Graph(_ context.Context, o GraphOptions) (*GraphReport, error) {
	w, l, err := c.installed(o.Scope)
	if err != nil {
		return nil, err
	}
	r := &GraphReport{Scope: w.Scope.Kind, Root: w.Scope.Root, Warnings: warnings(l)}
	if r.All, err = newGraph(w.Manifest, l); err != nil {
		return nil, err
	}
	r.Part = r.All.Limit(o.Depth)
	if o.Invert != "" {
		if r.Pack, err = pack.ParseID(o.Invert); err != nil {
			return nil, err
		}
		if !r.All.Has(r.Pack) {
			return nil, notInstalled(r.Pack, w.Manifest, l)
		}
		r.Part = r.All.Above(r.Pack, o.Depth)
	}
	r.Document = r.Part.Document()
	return r, nil
}

func warnings(l *workspace.Layout) []string { return append([]string{}, l.Warnings...) }

// newGraph returns the graph of a layout. A linked pack that nothing requires has no edge to it.
func newGraph(m *pack.Manifest, l *workspace.Layout) (*graph.Graph, error) {
	skills := make(map[pack.ID][]graph.Skill, len(l.Packs))
	for _, n := range l.Named {
		s := graph.Skill{Name: n.Skill}
		if !n.Bare {
			s.Link = n.Link
		}
		skills[n.Pack] = append(skills[n.Pack], s)
	}
	var roots []graph.Edge
	for _, d := range m.Dependencies {
		roots = append(roots, graph.Edge{To: d.ID, Constraint: pack.FormatRequirement(d)})
	}
	for _, d := range m.DevDependencies {
		roots = append(roots, graph.Edge{To: d.ID, Constraint: pack.FormatRequirement(d), Dev: true})
	}
	packs := make([]graph.Pack, 0, len(l.Packs))
	for id, p := range l.Packs {
		pk := graph.Pack{ID: id, Version: p.Version, Source: p.Source, Skills: skills[id]}
		if linked := l.Linked[id]; linked != nil {
			pk.Linked = linked.Dir
		}
		for name, required := range p.Dependencies {
			to, err := pack.ParseID(name)
			if err != nil {
				return nil, err
			}
			pk.Requires = append(pk.Requires, graph.Edge{To: to, Constraint: required})
		}
		packs = append(packs, pk)
	}
	name := pack.ManifestName
	if !m.Name.IsZero() {
		name = strings.TrimSpace(m.Name.String() + " " + m.Version)
	}
	return graph.New(name, roots, packs), nil
}

// notInstalled returns the error for a pack that is not installed, with a suggestion.
func notInstalled(id pack.ID, m *pack.Manifest, l *workspace.Layout) error {
	err := diag.Errorf(diag.NotFound, "%s is not installed", id)
	if _, ok := m.Dependency(id); ok {
		return err.WithHint("skillpm.yaml requires the pack; install it with: skillpm install")
	}
	var have []string
	for _, other := range sortedIDs(l.Packs) {
		have = append(have, other.String())
	}
	if near := diag.Nearest(id.String(), have); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("list installed packs with: skillpm list")
}
