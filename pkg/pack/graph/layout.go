package graph

import (
	"cmp"
	"slices"
)

// layout says where things stand in a picture. It has layers from left to right, each node as far to the right as its
// longest chain from the left is long. A wire that passes layers has a bend in each of them, so that the boxes there make
// room for it. All is reckoned in whole numbers, so that every machine draws the same.
type layout struct {
	g        *Graph
	vertices []vertex // those of the nodes, in their order, then the bends
	wires    []wire
	layers   [][]int // vertices from top to bottom
}

type vertex struct {
	layer, pos int   // pos is the place in its layer
	mean       int   // of the places of what it is connected to, while its layer is sorted
	height     int   // in pixels
	y          int   // of the middle: while it is worked on in parts of a pixel, then in pixels
	prev, next []int // vertices that wires lead from, and to
	bend       bool
}

// wire is an arc, from the left to the right: one that leads back is there the other way round.
type wire struct {
	arc
	from, to int   // nodes
	bends    []int // vertices
	back     bool  // what is required stands at from
}

// newLayout lays out a graph whose boxes have these heights.
func newLayout(g *Graph, heights []int) *layout {
	l := &layout{g: g, vertices: make([]vertex, len(g.nodes))}
	order := l.layer()
	for i := range l.vertices {
		l.vertices[i].height = heights[i]
	}
	l.bend()
	l.arrange(order)
	l.untangle()
	l.place()
	return l
}

// starts returns the nodes that chains begin at, and in the end all others: those that are in cycles only among them.
func (g *Graph) starts() []int {
	starts := make([]int, 0, len(g.nodes))
	if g.root >= 0 {
		starts = append(starts, g.root)
	}
	for i := range g.nodes {
		if len(g.nodes[i].in) == 0 {
			starts = append(starts, i)
		}
	}
	for i := range g.nodes {
		starts = append(starts, i)
	}
	return starts
}

// layer gives every node a layer and every arc a wire, and returns the nodes from left to right.
func (l *layout) layer() []int {
	order, leadBack := l.g.order(l.g.starts(), func(arc) bool { return true })
	back := make(map[[2]int]bool, len(leadBack))
	for _, b := range leadBack {
		back[b] = true
	}
	for _, i := range order {
		for _, a := range l.g.nodes[i].out {
			w := wire{arc: a, from: i, to: a.to, back: back[[2]int{i, a.to}]}
			if w.back {
				w.from, w.to = w.to, w.from
			} else {
				to := &l.vertices[a.to]
				to.layer = max(to.layer, l.vertices[i].layer+1)
			}
			l.wires = append(l.wires, w)
		}
	}
	return order
}

// span is how many layers a wire leads to the right.
func (l *layout) span(w wire) int { return l.vertices[w.to].layer - l.vertices[w.from].layer }

// bend gives the wires their bends, the short ones first: a graph of long wires would have more of them than anybody can
// draw, and those that get none are drawn below the boxes.
func (l *layout) bend() {
	byLength := make([]int, len(l.wires))
	for i := range byLength {
		byLength[i] = i
	}
	slices.SortStableFunc(byLength, func(a, b int) int { return cmp.Compare(l.span(l.wires[a]), l.span(l.wires[b])) })
	left := 4*(len(l.wires)+len(l.vertices)) + 1000
	for _, i := range byLength {
		w := &l.wires[i]
		at := w.from
		if span := l.span(*w); span > 1 && span-1 <= left {
			left -= span - 1
			for layer := l.vertices[w.from].layer + 1; layer < l.vertices[w.to].layer; layer++ {
				l.vertices = append(l.vertices, vertex{layer: layer, height: 4, bend: true})
				w.bends = append(w.bends, len(l.vertices)-1)
				at = l.connect(at, len(l.vertices)-1)
			}
		}
		if w.from != w.to {
			l.connect(at, w.to)
		}
	}
}

func (l *layout) connect(from, to int) int {
	l.vertices[from].next = append(l.vertices[from].next, to)
	l.vertices[to].prev = append(l.vertices[to].prev, from)
	return to
}

// arrange makes the layers, to begin with in the order in which chains lead through them.
func (l *layout) arrange(order []int) {
	add := func(i int) {
		v := &l.vertices[i]
		for len(l.layers) <= v.layer {
			l.layers = append(l.layers, nil)
		}
		v.pos = len(l.layers[v.layer])
		l.layers[v.layer] = append(l.layers[v.layer], i)
	}
	bends := make([][]int, len(l.g.nodes))
	for _, w := range l.wires {
		bends[w.from] = append(bends[w.from], w.bends...)
	}
	for _, i := range order {
		add(i)
		for _, b := range bends[i] {
			add(b)
		}
	}
}
