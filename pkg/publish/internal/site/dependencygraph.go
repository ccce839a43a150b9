package site

import (
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
