package graph

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
)

// A direction selects the arcs that a traversal follows.
type direction func(*node) []arc

func requirements(n *node) []arc { return n.out }
func dependents(n *node) []arc   { return n.in }

// distances returns how many steps each node is from one of them, -1 if no chain leads to it.
func (g *Graph) distances(from int, follow direction) []int {
	steps := slices.Repeat([]int{-1}, len(g.nodes))
	g.addDistances(steps, from, follow)
	return steps
}

// addDistances sets the distances of the nodes that only a chain from one more node leads to.
func (g *Graph) addDistances(steps []int, from int, follow direction) {
	steps[from] = 0
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, a := range follow(&g.nodes[queue[0]]) {
			if steps[a.to] < 0 {
				steps[a.to] = steps[queue[0]] + 1
				queue = append(queue, a.to)
			}
		}
	}
}

// topological returns the nodes that chains from some nodes lead to, each before what it requires. The arcs that close
// cycles don't count; it returns them as pairs of from and to.
func (g *Graph) topological(from []int, follow func(arc) bool) (order []int, cycles map[[2]int]bool) {
	cycles = make(map[[2]int]bool)
	visited, finished := make([]bool, len(g.nodes)), make([]bool, len(g.nodes))
	var visit func(int)
	visit = func(i int) {
		visited[i] = true
		for _, a := range g.nodes[i].out {
			switch {
			case !follow(a):
			case !visited[a.to]:
				visit(a.to)
			case !finished[a.to]:
				cycles[[2]int{i, a.to}] = true
			}
		}
		finished[i] = true
		order = append(order, i)
	}
	for _, i := range from {
		if !visited[i] {
			visit(i)
		}
	}
	slices.Reverse(order)
	return order, cycles
}

// Limit returns the part of the graph that is at most so many steps from the root, without what the root doesn't
// require. A depth of 0 or less returns the whole graph.
func (g *Graph) Limit(depth int) *Graph {
	if depth <= 0 || g.root < 0 {
		return g
	}
	return g.part(g.distances(g.root, requirements), depth)
}

// Above returns the part of the graph that requires a pack, directly or not, and the pack. A depth above 0 limits it to
// so many steps from the pack.
func (g *Graph) Above(id pack.ID, depth int) *Graph {
	i := g.find(id)
	if i < 0 {
		return &Graph{root: -1}
	}
	return g.part(g.distances(i, dependents), depth)
}

// part returns the graph of the nodes within a number of steps, 0 or less for any.
func (g *Graph) part(steps []int, limit int) *Graph {
	part := &Graph{root: -1}
	index := slices.Repeat([]int{-1}, len(g.nodes)) // in the part
	for i, n := range g.nodes {
		if steps[i] >= 0 && (limit <= 0 || steps[i] <= limit) {
			index[i] = len(part.nodes)
			part.nodes = append(part.nodes, n)
		}
	}
	if g.root >= 0 {
		part.root = index[g.root]
	}
	for i := range part.nodes {
		n := &part.nodes[i]
		arcs := n.out
		n.out, n.in = nil, nil
		for _, a := range arcs {
			if a.to = index[a.to]; a.to >= 0 {
				n.out = append(n.out, a)
			}
		}
	}
	part.connectDependents()
	return part
}
