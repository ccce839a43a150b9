package graph

import "slices"

const (
	fine   = 16 // parts of a pixel, while places are worked out
	rowGap = 14 // pixels between two vertices of a layer
)

// place gives every vertex its height on the page: near to what it is connected to, in the order of its layer, and with
// room between the boxes.
func (l *layout) place() {
	for _, layer := range l.layers {
		y := 0
		for k, i := range layer {
			if k > 0 {
				y += l.apart(layer[k-1], i)
			}
			l.vertices[i].y = y
		}
	}
	for range sweeps / 2 {
		for _, layer := range l.layers {
			l.settle(layer, func(v *vertex) []int { return v.prev })
		}
		for _, layer := range slices.Backward(l.layers) {
			l.settle(layer, func(v *vertex) []int { return v.next })
		}
	}
	for _, layer := range l.layers {
		l.settle(layer, func(v *vertex) []int { return slices.Concat(v.prev, v.next) })
	}
	top := 0
	for i, v := range l.vertices {
		if edge := v.y - v.height*fine/2; i == 0 || edge < top {
			top = edge
		}
	}
	for i := range l.vertices {
		l.vertices[i].y = (l.vertices[i].y - top) / fine
	}
}

// apart is how far the middles of two neighbours are from each other at least.
func (l *layout) apart(a, b int) int {
	return ((l.vertices[a].height+l.vertices[b].height)/2 + rowGap) * fine
}

// block is vertices of a layer that stand as near to each other as they may.
type block struct{ sum, weight, size int }

func (b block) mean() int { return floor(b.sum, b.weight) }

// settle moves the vertices of a layer to where they are nearest, by the sum of the squares, to the mean height of what
// they are connected to: neighbours that are in each other's way form a block that moves as one.
func (l *layout) settle(layer []int, toward func(*vertex) []int) {
	blocks := make([]block, 0, len(layer))
	offset, offsets := 0, make([]int, len(layer))
	for k, i := range layer {
		if k > 0 {
			offset += l.apart(layer[k-1], i)
		}
		offsets[k] = offset
		want, weight := l.wanted(&l.vertices[i], toward)
		b := block{(want - offset) * weight, weight, 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].mean() > b.mean() {
			last := blocks[len(blocks)-1]
			b = block{b.sum + last.sum, b.weight + last.weight, b.size + last.size}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	k := 0
	for _, b := range blocks {
		for range b.size {
			l.vertices[layer[k]].y = b.mean() + offsets[k]
			k++
		}
	}
}

// wanted returns where a vertex should be, and how much that matters: most for bends, whose wires are straight then.
func (l *layout) wanted(v *vertex, toward func(*vertex) []int) (y, weight int) {
	ends := toward(v)
	if len(ends) == 0 {
		return v.y, 1
	}
	sum := 0
	for _, e := range ends {
		sum += l.vertices[e].y
	}
	if v.bend {
		return floor(sum, len(ends)), 4
	}
	return floor(sum, len(ends)), 2
}

// floor divides, rounding down.
func floor(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}
