package site

import (
	"cmp"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/graph"
)

// Limits of a pack's graph: levels below the pack, and packs.
const (
	graphDepth = 5
	graphPacks = 40
)

// graph draws the dependencies of a pack, or returns "" if it has none. partial reports that some are left out.
func (s *Site) graph(i int) (svg string, partial bool) {
	root := &s.packs[i]
	if len(root.Dependencies) == 0 {
		return "", false
	}
	depth := map[pack.ID]int{root.ID: 0}
	queue := []pack.ID{root.ID}
	var packs []graph.Pack
	for ; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		k, ok := s.index[id]
		if !ok {
			continue
		}
		p := graph.Pack{ID: id, Version: s.packs[k].displayed().Version}
		for _, d := range s.packs[k].Dependencies {
			if _, seen := depth[d.ID]; !seen {
				if depth[id] == graphDepth || len(depth) >= graphPacks {
					partial = true
					continue
				}
				depth[d.ID] = depth[id] + 1
				queue = append(queue, d.ID)
			}
			p.Requires = append(p.Requires, graph.Edge{To: d.ID, Constraint: oneLine(d.Constraint)})
		}
		packs = append(packs, p)
	}
	edges := packs[0].Requires // the root comes first
	requiresRoot := func(p graph.Pack) bool {
		return slices.ContainsFunc(p.Requires, func(e graph.Edge) bool { return e.To == root.ID })
	}
	if !slices.ContainsFunc(packs, requiresRoot) {
		packs = packs[1:] // the root stands for the pack, except in a cycle
	}
	g := graph.New(root.ID.String()+" "+root.displayed().Version, edges, packs)
	return g.SVG(graph.Options{NoStyle: true, Missing: "not in this index"}), partial
}

// treeItem is a requirement in the tree of dependencies.
type treeItem struct {
	Name     string
	Range    string
	Href     string // relative to the root; "" if the website does not have the pack
	Version  string
	Again    bool // its requirements are above
	Requires []treeItem
}

// tree returns what [Site.graph] draws as a tree, for screens that are too narrow for the drawing.
func (s *Site) tree(i int) []treeItem {
	seen := map[pack.ID]bool{s.packs[i].ID: true}
	var requirements func(i, depth int) []treeItem
	requirements = func(i, depth int) (items []treeItem) {
		for _, d := range s.packs[i].Dependencies {
			if !seen[d.ID] && (depth > graphDepth || len(seen) >= graphPacks) {
				continue
			}
			it := treeItem{Name: d.ID.String(), Range: cmp.Or(oneLine(d.Constraint), "any")}
			if k, ok := s.index[d.ID]; ok {
				it.Href, it.Version = packPath(d.ID), s.packs[k].displayed().Version
				it.Again = seen[d.ID] && len(s.packs[k].Dependencies) > 0
				if !seen[d.ID] {
					seen[d.ID] = true
					it.Requires = requirements(k, depth+1)
				}
			}
			seen[d.ID] = true
			items = append(items, it)
		}
		return items
	}
	return requirements(i, 1)
}
