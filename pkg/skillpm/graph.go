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

// GraphOptions says which part of the graph is wanted.
type GraphOptions struct {
	Scope  string // scope.KindProject or scope.KindUser; "" means the project
	Invert string // owner/name: only what requires this pack
	Depth  int    // steps from the manifest, or from that pack; 0 for any
}

// GraphReport is the graph of what a scope has installed, or a part of it.
type GraphReport struct {
	Scope string `json:"scope"`
	Root  string `json:"root"` // the directory
	graph.Document
	Warnings []string `json:"warnings"`

	All  *graph.Graph `json:"-"`
	Part *graph.Graph `json:"-"` // what Document is of
	Pack pack.ID      `json:"-"` // that of Invert, if there is one
}

// Graph says which installed pack requires which.
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

// newGraph returns the graph of what is in force. A pack that is linked and not required is not required in it.
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

// notInstalled says that a pack is not there, and what was perhaps meant.
func notInstalled(id pack.ID, m *pack.Manifest, l *workspace.Layout) error {
	err := diag.Errorf(diag.NotFound, "%s is not installed", id)
	if _, ok := m.Dependency(id); ok {
		return err.WithHint("skillpm.yaml requires it: run skillpm install")
	}
	var have []string
	for _, other := range slices.SortedFunc(maps.Keys(l.Packs), pack.ID.Compare) {
		have = append(have, other.String())
	}
	if near := diag.Nearest(id.String(), have); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("skillpm list shows what is installed")
}

// LockedNames returns all packs that are installed in a scope, also those that only other packs require, and the
// skills, as agents see them and exactly. It returns nothing where nothing can be read.
func (c *Client) LockedNames(scopeKind string) (packs, skills []string) {
	_, l, err := c.installed(scopeKind)
	if err != nil {
		return nil, nil
	}
	for id := range l.Packs {
		packs = append(packs, id.String())
	}
	for _, n := range l.Named {
		skills = append(skills, n.Link, n.Skill+"@"+n.Pack.String())
	}
	slices.Sort(packs)
	slices.Sort(skills)
	return packs, slices.Compact(skills)
}
