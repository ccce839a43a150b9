package graph

import "github.com/skillpm/skillpm/pkg/pack"

func outOf(n *node) []arc { return n.out }
func into(n *node) []arc  { return n.in }

// distances returns how many steps each node is from one of them, -1 where no chain leads to it.
func (g *Graph) distances(from int, next func(*node) []arc) []int {
	steps := make([]int, len(g.nodes))
	for i := range steps {
		steps[i] = -1
	}
	g.extend(steps, from, next)
	return steps
}

// extend adds to distances what one more node leads to.
func (g *Graph) extend(steps []int, from int, next func(*node) []arc) {
	steps[from] = 0
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, a := range next(&g.nodes[queue[0]]) {
			if steps[a.to] < 0 {
				steps[a.to] = steps[queue[0]] + 1
				queue = append(queue, a.to)
			}
		}
	}
}

// Limit returns the part of the graph that is at most so many steps from the root. What the root does not require is
// left out. A depth of 0 or less returns the whole graph.
func (g *Graph) Limit(depth int) *Graph {
	if depth <= 0 || g.root < 0 {
		return g
	}
	return g.part(g.distances(g.root, outOf), depth)
}

// Above returns the part of the graph that requires a pack, however indirectly, and the pack: with a depth above 0 only
// as far as so many steps up from it.
func (g *Graph) Above(id pack.ID, depth int) *Graph {
	i := g.find(id)
	if i < 0 {
		return &Graph{root: -1}
	}
	return g.part(g.distances(i, into), depth)
}

// part returns the graph of the nodes within a number of steps, 0 or less for any.
func (g *Graph) part(steps []int, limit int) *Graph {
	part := &Graph{root: -1}
	at := make([]int, len(g.nodes))
	for i, n := range g.nodes {
		at[i] = -1
		if steps[i] >= 0 && (limit <= 0 || steps[i] <= limit) {
			at[i] = len(part.nodes)
			part.nodes = append(part.nodes, n)
		}
	}
	if g.root >= 0 {
		part.root = at[g.root]
	}
	for i := range part.nodes {
		n := &part.nodes[i]
		arcs := n.out
		n.out, n.in = nil, nil
		for _, a := range arcs {
			if a.to = at[a.to]; a.to >= 0 {
				n.out = append(n.out, a)
			}
		}
	}
	part.arcsIn()
	return part
}
