package graph

import (
	"cmp"
	"slices"
)

// sweeps is how often the layers are gone through to have fewer crossings, and to have straighter wires.
const sweeps = 8

// untangle orders each layer by where the wires of its vertices come from, from the left to the right and back, and keeps
// the best of what that gives.
func (l *layout) untangle() {
	best, fewest := l.positions(), l.crossings()
	for i := 0; i < sweeps && fewest > 0; i++ {
		if i%2 == 0 {
			for k := 1; k < len(l.layers); k++ {
				l.sort(l.layers[k], func(v *vertex) []int { return v.prev })
			}
		} else {
			for k := len(l.layers) - 2; k >= 0; k-- {
				l.sort(l.layers[k], func(v *vertex) []int { return v.next })
			}
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.positions(), n
		}
	}
	for k, layer := range l.layers {
		for pos, i := range best[k] {
			layer[pos], l.vertices[i].pos = i, pos
		}
	}
}

func (l *layout) positions() [][]int {
	all := make([][]int, len(l.layers))
	for k, layer := range l.layers {
		all[k] = slices.Clone(layer)
	}
	return all
}

// sort orders one layer by the mean place of what each vertex is connected to. One without wires keeps its place.
func (l *layout) sort(layer []int, toward func(*vertex) []int) {
	for _, i := range layer {
		sum, ends := 0, toward(&l.vertices[i])
		for _, e := range ends {
			sum += l.vertices[e].pos
		}
		v := &l.vertices[i]
		v.mean = v.pos << 10
		if len(ends) > 0 {
			v.mean = sum << 10 / len(ends)
		}
	}
	slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(l.vertices[a].mean, l.vertices[b].mean) })
	for pos, i := range layer {
		l.vertices[i].pos = pos
	}
}

// crossings counts the wires that cross between neighbouring layers: the inversions of where they end, in the order of
// where they begin, counted with a Fenwick tree.
func (l *layout) crossings() int {
	total := 0
	var ends []int
	for k := 0; k+1 < len(l.layers); k++ {
		seen := make([]int, len(l.layers[k+1])+1)
		count := 0
		for _, i := range l.layers[k] {
			ends = ends[:0]
			for _, e := range l.vertices[i].next {
				if l.vertices[e].layer == k+1 {
					ends = append(ends, l.vertices[e].pos+1)
				}
			}
			for _, end := range ends {
				before := 0
				for at := end; at > 0; at -= at & -at {
					before += seen[at]
				}
				total += count - before
			}
			for _, end := range ends {
				for at := end; at < len(seen); at += at & -at {
					seen[at]++
				}
				count++
			}
		}
	}
	return total
}
