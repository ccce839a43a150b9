package graph

import (
	"cmp"
	"slices"
)

// labelHeight is how far the lines of two labels are apart at least, in pixels.
const labelHeight = 14

// label is the text at a wire.
type label struct {
	gap, x, y int // the layer left of it, and the middle of its line
	text      string
}

// arrangeLabels works out where the labels stand: each in the first gap that its wire passes, upon all wires, as near to the
// wire's middle as the other labels of the gap leave room for.
func (p *picture) arrangeLabels() {
	gaps := make([][]label, len(p.layers))
	for _, w := range p.wires {
		if l, ok := p.labelAt(w); ok {
			gaps[l.gap] = append(gaps[l.gap], l)
		}
	}
	for _, labels := range gaps {
		slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(a.y, b.y) })
		spread(labels)
		p.labels = append(p.labels, labels...)
	}
	lowest := 0
	for _, l := range p.labels {
		lowest = max(lowest, l.y)
	}
	p.height = max(p.height, lowest+margin)
}

// labelAt returns the label of a wire where it would stand if it were alone.
func (p *picture) labelAt(w wire) (label, bool) {
	text := p.label(w)
	if text == "" {
		return label{}, false
	}
	next := w.to
	if len(w.bends) > 0 {
		next = w.bends[0]
	}
	from, to := &p.vertices[w.from], &p.vertices[next]
	l := label{gap: from.layer, x: (p.right[from.layer] + p.left[to.layer]) / 2, y: (from.y+to.y)/2 + margin + 4, text: text}
	if w.back {
		l.y += labelHeight + 2
	}
	return l, true
}

// spread moves labels, which are in order of their heights, apart: those that are in each other's way form a block around
// the middle of where they would be.
func spread(labels []label) {
	blocks := make([]block, 0, len(labels))
	for k, l := range labels {
		b := block{l.y - k*labelHeight, 1, 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].mean() > b.mean() {
			last := blocks[len(blocks)-1]
			b = block{b.sum + last.sum, b.weight + last.weight, b.size + last.size}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	k, top := 0, margin
	for _, b := range blocks {
		for range b.size {
			labels[k].y = max(b.mean()+k*labelHeight, top)
			top = labels[k].y + labelHeight
			k++
		}
	}
}
