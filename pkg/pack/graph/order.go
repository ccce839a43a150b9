package graph

import "slices"

// order returns the nodes that can be reached from some of them, what requires before what is required, but for the
// arcs that lead back to where a cycle was entered: these are returned too, as pairs of from and to.
func (g *Graph) order(from []int, follow func(arc) bool) (order []int, back [][2]int) {
	const (
		open = 1 + iota
		done
	)
	state := make([]byte, len(g.nodes))
	type visit struct{ node, next int }
	var path []visit
	for _, start := range from {
		if state[start] == 0 {
			state[start] = open
			path = append(path, visit{node: start})
		}
		for len(path) > 0 {
			v := &path[len(path)-1]
			arcs := g.nodes[v.node].out
			if v.next == len(arcs) {
				state[v.node] = done
				order = append(order, v.node)
				path = path[:len(path)-1]
				continue
			}
			a := arcs[v.next]
			v.next++
			switch {
			case !follow(a):
			case state[a.to] == 0:
				state[a.to] = open
				path = append(path, visit{node: a.to})
			case state[a.to] == open:
				back = append(back, [2]int{v.node, a.to})
			}
		}
	}
	slices.Reverse(order)
	return order, back
}
