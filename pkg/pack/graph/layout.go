package graph

import (
	"cmp"
	"slices"
)

const (
	rowGap  = 14 // pixels between two boxes of a column
	sweeps  = 4  // how often columns are reordered
	maxSpan = 16 // a wire across more columns has no bends and passes behind the boxes
)

// layout is a layered drawing after Sugiyama: the column of a node is the length of its longest chain. A wire that
// passes a column has a bend there, so that the boxes make room. All numbers are integers, so that every machine draws
// the same.
type layout struct {
	g        *Graph
	vertices []vertex // of the nodes, in their order, then the bends
	wires    []wire
	columns  [][]int // vertices from top to bottom
}

type vertex struct {
	column, row int
	height, y   int // in pixels; y is the middle
	left, right []int
}

// wire is an arc, drawn from left to right. One that closes a cycle is reversed.
type wire struct {
	arc
	from, to int   // nodes
	bends    []int // vertices
	reversed bool  // the node at from is required
}

func newLayout(g *Graph, heights []int) *layout {
	l := &layout{g: g, vertices: make([]vertex, len(g.nodes))}
	for i, height := range heights {
		l.vertices[i].height = height
	}
	order := l.assignColumns()
	for i := range l.wires {
		l.addBends(&l.wires[i])
	}
	for _, i := range order {
		l.addToColumn(i)
	}
	for i := len(g.nodes); i < len(l.vertices); i++ {
		l.addToColumn(i)
	}
	for range sweeps {
		for _, column := range l.columns {
			l.reorder(column, func(v *vertex) []int { return v.left })
		}
		for _, column := range slices.Backward(l.columns) {
			l.reorder(column, func(v *vertex) []int { return v.right })
		}
	}
	l.stack()
	return l
}

// starts returns the nodes from which columns are counted: the root, what nothing requires, and the rest for cycles.
func (g *Graph) starts() []int {
	var starts, rest []int
	if g.root >= 0 {
		starts = append(starts, g.root)
	}
	for i := range g.nodes {
		if len(g.nodes[i].in) == 0 {
			starts = append(starts, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(starts, rest...)
}

// assignColumns gives every node a column and every arc a wire, and returns the nodes from left to right.
func (l *layout) assignColumns() []int {
	order, cycles := l.g.topological(l.g.starts(), func(arc) bool { return true })
	for _, i := range order {
		for _, a := range l.g.nodes[i].out {
			w := wire{arc: a, from: i, to: a.to, reversed: cycles[[2]int{i, a.to}]}
			if w.reversed {
				w.from, w.to = w.to, w.from
			} else {
				to := &l.vertices[a.to]
				to.column = max(to.column, l.vertices[i].column+1)
			}
			l.wires = append(l.wires, w)
		}
	}
	return order
}

// span returns the number of columns from the left end of a wire to its right end.
func (l *layout) span(w wire) int { return l.vertices[w.to].column - l.vertices[w.from].column }

// addBends adds a bend in every column between the ends of a wire.
func (l *layout) addBends(w *wire) {
	if w.from == w.to || l.span(*w) > maxSpan {
		return
	}
	last := w.from
	for column := l.vertices[w.from].column + 1; column < l.vertices[w.to].column; column++ {
		bend := len(l.vertices)
		l.vertices = append(l.vertices, vertex{column: column, height: 4})
		w.bends = append(w.bends, bend)
		l.connect(last, bend)
		last = bend
	}
	l.connect(last, w.to)
}

func (l *layout) connect(from, to int) {
	l.vertices[from].right = append(l.vertices[from].right, to)
	l.vertices[to].left = append(l.vertices[to].left, from)
}

func (l *layout) addToColumn(i int) {
	v := &l.vertices[i]
	for len(l.columns) <= v.column {
		l.columns = append(l.columns, nil)
	}
	v.row = len(l.columns[v.column])
	l.columns[v.column] = append(l.columns[v.column], i)
}

// reorder sorts a column by the mean row of the neighbors on one side. A vertex without neighbors keeps its row.
func (l *layout) reorder(column []int, neighbors func(*vertex) []int) {
	means := make(map[int]int, len(column))
	for _, i := range column {
		mean, near := l.vertices[i].row<<10, neighbors(&l.vertices[i])
		if len(near) > 0 {
			mean = 0
			for _, n := range near {
				mean += l.vertices[n].row << 10
			}
			mean /= len(near)
		}
		means[i] = mean
	}
	slices.SortStableFunc(column, func(a, b int) int { return cmp.Compare(means[a], means[b]) })
	for row, i := range column {
		l.vertices[i].row = row
	}
}

// stack places the boxes of each column below each other, in the middle of the page.
func (l *layout) stack() {
	heights, tallest := make([]int, len(l.columns)), 0
	for k, column := range l.columns {
		for _, i := range column {
			heights[k] += l.vertices[i].height + rowGap
		}
		heights[k] -= rowGap
		tallest = max(tallest, heights[k])
	}
	for k, column := range l.columns {
		y := (tallest - heights[k]) / 2
		for _, i := range column {
			v := &l.vertices[i]
			v.y = y + v.height/2
			y += v.height + rowGap
		}
	}
}
