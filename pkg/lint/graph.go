package lint

import "slices"

// graph is a directed graph: skills that use each other, packs that depend on each other.
type graph[N comparable, E any] struct {
	nodes []N // in the order of reports
	next  map[N][]E
	to    func(E) N
}

// shortestCycles returns, for every strongly connected component, the shortest cycle through its first node. The last
// edge of a cycle leads back to that node. It takes time in proportion to the nodes and edges.
func (g graph[N, E]) shortestCycles() [][]E {
	position := make(map[N]int, len(g.nodes))
	for i, n := range g.nodes {
		position[n] = i
	}
	var out [][]E
	for _, group := range g.components() {
		first := slices.MinFunc(group, func(a, b N) int { return position[a] - position[b] })
		members := make(map[N]bool, len(group))
		for _, n := range group {
			members[n] = true
		}
		if way := g.shortestCycle(first, members); way != nil {
			out = append(out, way)
		}
	}
	return out
}

// components returns the strongly connected components, by Tarjan's algorithm.
func (g graph[N, E]) components() [][]N {
	var groups [][]N
	var stack []N
	number, low, open := map[N]int{}, map[N]int{}, map[N]bool{}
	var visit func(n N)
	visit = func(n N) {
		number[n] = len(number) + 1
		low[n] = number[n]
		stack, open[n] = append(stack, n), true
		for _, e := range g.next[n] {
			if to := g.to(e); number[to] == 0 {
				visit(to)
				low[n] = min(low[n], low[to])
			} else if open[to] {
				low[n] = min(low[n], number[to])
			}
		}
		if low[n] != number[n] {
			return
		}
		at := len(stack) - 1
		for stack[at] != n {
			at--
		}
		groups = append(groups, slices.Clone(stack[at:]))
		for _, member := range stack[at:] {
			open[member] = false
		}
		stack = stack[:at]
	}
	for _, n := range g.nodes {
		if number[n] == 0 {
			visit(n)
		}
	}
	return groups
}

// shortestCycle returns the edges of the shortest cycle through a node within a component, or nil.
func (g graph[N, E]) shortestCycle(from N, among map[N]bool) []E {
	type step struct {
		at   N
		by   *step
		edge E
	}
	seen := map[N]bool{}
	for queue := []*step{{at: from}}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		for _, e := range g.next[s.at] {
			to := g.to(e)
			if to == from {
				way := []E{e}
				for ; s.by != nil; s = s.by {
					way = append(way, s.edge)
				}
				slices.Reverse(way)
				return way
			}
			if among[to] && !seen[to] {
				seen[to] = true
				queue = append(queue, &step{to, s, e})
			}
		}
	}
	return nil
}
