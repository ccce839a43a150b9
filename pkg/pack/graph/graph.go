package graph

import (
	"cmp"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
)

// Pack is one locked pack.
type Pack struct {
	ID       pack.ID
	Version  string
	Source   string // where it is locked to
	Linked   string // the directory that it is linked to, "" if it is not
	Skills   []Skill
	Requires []Edge
}

// Skill is a skill of a pack. Link is the name that agents know it under, if it differs.
type Skill struct {
	Name string
	Link string
}

// Edge is one requirement.
type Edge struct {
	To         pack.ID
	Constraint string // the range, source and skills, as a lockfile writes them; may be ""
	Dev        bool   // required for development only; only requirements of the manifest can be
}

// Graph is the packs and their requirements. It is immutable.
type Graph struct {
	nodes []node // in order of their names, the root first
	root  int    // -1 in a part of a graph without it
}

// node is the root or a pack.
type node struct {
	Pack
	name     string // as it is shown, without the version
	key      string // the id; "" for the root
	out, in  []arc  // in order of their other ends
	direct   bool   // the root requires it
	dev      bool   // the root requires it for development only, by whatever chain
	required bool   // a chain leads to it from the root
	missing  bool   // required and not locked
	requires []Requirement
}

// arc is an edge between nodes. to is the pack that is required, or in node.in the dependent.
type arc struct {
	to         int
	constraint string
	dev        bool
}

// New returns the graph of packs. name is that of the manifest, and roots are its requirements. The order of packs and
// edges doesn't matter. Of several packs with one id, or edges to one pack, the first in order of text counts, and an
// edge for development only if there is no other. Packs that are required and not given are in the graph as missing.
func New(name string, roots []Edge, packs []Pack) *Graph {
	g := &Graph{nodes: make([]node, 1, len(packs)+1)}
	g.nodes[0] = node{name: name, Pack: Pack{Requires: roots}, required: true}
	index := make(map[string]int, len(packs))
	add := func(p Pack, missing bool) {
		key := p.ID.String()
		if _, ok := index[key]; !ok {
			index[key] = 0
			g.nodes = append(g.nodes, node{Pack: p, name: key, key: key, missing: missing})
		}
	}
	for _, p := range slices.SortedFunc(slices.Values(packs), comparePacks) {
		add(p, false)
	}
	for i := range len(g.nodes) {
		for _, e := range g.nodes[i].Requires {
			add(Pack{ID: e.To}, true)
		}
	}
	slices.SortFunc(g.nodes[1:], func(a, b node) int { return cmp.Compare(a.key, b.key) })
	for i := range g.nodes[1:] {
		index[g.nodes[i+1].key] = i + 1
	}
	g.connect(index)
	g.connectDependents()
	g.markRequired()
	return g
}

func comparePacks(a, b Pack) int {
	return cmp.Or(a.ID.Compare(b.ID), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.Linked, b.Linked))
}

// connect makes the arcs to what nodes require.
func (g *Graph) connect(index map[string]int) {
	for i := range g.nodes {
		n := &g.nodes[i]
		n.Skills = slices.SortedFunc(slices.Values(n.Skills), func(a, b Skill) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Link, b.Link))
		})
		for _, e := range n.Requires {
			n.out = append(n.out, arc{to: index[e.To.String()], constraint: e.Constraint, dev: e.Dev && i == 0})
		}
		slices.SortFunc(n.out, compareArcs)
		n.out = slices.CompactFunc(n.out, func(a, b arc) bool { return a.to == b.to })
		n.requires = make([]Requirement, 0, len(n.out))
		for _, a := range n.out {
			n.requires = append(n.requires, Requirement{Pack: g.nodes[a.to].name, Range: a.constraint, Dev: a.dev})
		}
	}
}

// compareArcs orders arcs by what is required; for one pack those for development last.
func compareArcs(a, b arc) int {
	if c := cmp.Compare(a.to, b.to); c != 0 || a.dev == b.dev {
		return cmp.Or(c, cmp.Compare(a.constraint, b.constraint))
	}
	if a.dev {
		return 1
	}
	return -1
}

// connectDependents makes the arcs back from those that lead on.
func (g *Graph) connectDependents() {
	for i := range g.nodes {
		for _, a := range g.nodes[i].out {
			to := &g.nodes[a.to]
			to.in = append(to.in, arc{to: i, constraint: a.constraint, dev: a.dev})
		}
	}
}

// markRequired marks the nodes that the root requires, and those that it requires for development only.
func (g *Graph) markRequired() {
	inUse := slices.Repeat([]int{-1}, len(g.nodes)) // distances without requirements for development
	required := slices.Clone(inUse)
	for _, a := range g.nodes[0].out {
		g.nodes[a.to].direct = true
		g.addDistances(required, a.to, requirements)
		if !a.dev {
			g.addDistances(inUse, a.to, requirements)
		}
	}
	for i := range g.nodes[1:] {
		n := &g.nodes[i+1]
		n.required, n.dev = required[i+1] >= 0, required[i+1] >= 0 && inUse[i+1] < 0
	}
}

// Has reports whether a pack is in the graph, also as missing.
func (g *Graph) Has(id pack.ID) bool { return g.find(id) >= 0 }

// find returns a pack's node, -1 if it is not in the graph.
func (g *Graph) find(id pack.ID) int {
	i, ok := slices.BinarySearchFunc(g.nodes, id.String(),
		func(n node, key string) int { return cmp.Compare(n.key, key) })
	if !ok {
		return -1
	}
	return i
}
