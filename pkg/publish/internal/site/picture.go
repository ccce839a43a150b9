package site

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/graph"
)

// The graph of a pack is that of what it requires, down to so many levels and up to so many packs.
const (
	graphDepth = 5
	graphPacks = 40
)

// graph draws what a pack requires, "" where it requires nothing. The bool says that there is more than is drawn.
func (s *Site) graph(i int) (svg string, partial bool) {
	root := &s.packs[i]
	if len(root.Dependencies) == 0 {
		return "", false
	}
	depth := map[pack.ID]int{root.ID: 0}
	queue, part := []pack.ID{root.ID}, false
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
					part = true
					continue
				}
				depth[d.ID] = depth[id] + 1
				queue = append(queue, d.ID)
			}
			p.Requires = append(p.Requires, graph.Edge{To: d.ID, Constraint: oneLine(d.Constraint)})
		}
		packs = append(packs, p)
	}
	own := slices.IndexFunc(packs, func(p graph.Pack) bool { return p.ID == root.ID })
	edges := packs[own].Requires
	// nobody leads back to it, so it is the root and no box of its own
	if !slices.ContainsFunc(packs, func(p graph.Pack) bool {
		return slices.ContainsFunc(p.Requires, func(e graph.Edge) bool { return e.To == root.ID })
	}) {
		packs = slices.Delete(packs, own, own+1)
	}
	g := graph.New(root.ID.String()+" "+root.displayed().Version, edges, packs)
	return g.SVG(graph.Options{NoStyle: true, Missing: "not in this catalogue"}), part
}
