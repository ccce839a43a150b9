package textdiff

import (
	"context"
	"slices"
)

// span is a change: the lines a0 to a1 of the old text became the lines b0 to b1 of the new one. Either may be empty.
type span struct{ a0, a1, b0, b1 int }

// The bounds of the search for the shortest difference. Beyond them, lines are replaced as a whole.
const (
	minSteps     = 1 << 24 // steps, whatever the texts
	stepsPerLine = 16
	stepsPerEdit = 64   // the cost of checking the context
	maxEdits     = 1024 // in one region without unique lines
	maxSplits    = 64   // nested regions
)

// differ compares two texts, whose lines are numbered so that equal lines have equal numbers.
//
// Lines that are unique in both texts, in the order that most of them keep, split the texts into regions (as in
// patience diff); a region without such lines is compared by Myers' greedy algorithm ("An O(ND) Difference Algorithm
// and Its Variations", 1986). Patience diff finds readable differences, Myers' algorithm handles the rest.
type differ struct {
	a, b   []int32
	ctx    context.Context
	steps  int // steps that are left
	counts []count
	out    []span
}

// count is how often a line occurs, and its position in the second text.
type count struct{ a, b, at int32 }

// diffLines returns the changes between two texts in order. No two of them touch. If ctx ends, they are longer than
// necessary.
func diffLines(ctx context.Context, a, b []string, budget *Budget) []span {
	steps := min(minSteps+stepsPerLine*(len(a)+len(b)), budget.Steps)
	d := &differ{ctx: ctx, steps: steps}
	defer func() { budget.Steps -= steps - max(0, d.steps) }()
	numbers := make(map[string]int32)
	number := func(lines []string) []int32 {
		list := make([]int32, len(lines))
		for i, line := range lines {
			n, ok := numbers[line]
			if !ok {
				n = int32(len(numbers))
				numbers[line] = n
			}
			list[i] = n
		}
		return list
	}
	d.a, d.b = number(a), number(b)
	d.counts = make([]count, len(numbers))
	d.compareRegion(span{0, len(a), 0, len(b)}, 0)
	return d.out
}

// exhausted reports whether the search must stop.
func (d *differ) exhausted() bool {
	d.steps -= stepsPerEdit
	return d.steps <= 0 || d.ctx.Err() != nil
}

// addChange adds a change, or extends the last one if they touch.
func (d *differ) addChange(s span) {
	if s.a0 == s.a1 && s.b0 == s.b1 {
		return
	}
	if n := len(d.out); n > 0 && d.out[n-1].a1 == s.a0 && d.out[n-1].b1 == s.b0 {
		d.out[n-1].a1, d.out[n-1].b1 = s.a1, s.b1
		return
	}
	d.out = append(d.out, s)
}

// compareRegion compares a region of the texts.
func (d *differ) compareRegion(s span, splits int) {
	for s.a0 < s.a1 && s.b0 < s.b1 && d.a[s.a0] == d.b[s.b0] {
		s.a0, s.b0 = s.a0+1, s.b0+1
	}
	for s.a0 < s.a1 && s.b0 < s.b1 && d.a[s.a1-1] == d.b[s.b1-1] {
		s.a1, s.b1 = s.a1-1, s.b1-1
	}
	if s.a0 == s.a1 || s.b0 == s.b1 || d.exhausted() {
		d.addChange(s)
		return
	}
	anchors, shared := d.anchors(s)
	switch {
	case !shared:
		d.addChange(s)
		return
	case len(anchors) == 0 || splits == maxSplits:
		d.greedy(s)
		return
	}
	for _, p := range anchors {
		d.compareRegion(span{s.a0, p.a, s.b0, p.b}, splits+1)
		s.a0, s.b0 = p.a+1, p.b+1
	}
	d.compareRegion(s, splits+1)
}

// pair is a line of both texts.
type pair struct{ a, b int }

// anchors returns the lines that are unique in both parts, in the longest order that both keep, and whether the parts
// have any line in common.
func (d *differ) anchors(s span) (list []pair, shared bool) {
	d.steps -= 2 * (s.a1 - s.a0 + s.b1 - s.b0)
	for _, n := range d.a[s.a0:s.a1] {
		d.counts[n].a++
	}
	for j, n := range d.b[s.b0:s.b1] {
		d.counts[n].b++
		d.counts[n].at = int32(s.b0 + j)
	}
	var both []pair
	for i, n := range d.a[s.a0:s.a1] {
		c := d.counts[n]
		shared = shared || c.b > 0
		if c.a == 1 && c.b == 1 {
			both = append(both, pair{s.a0 + i, int(c.at)})
		}
	}
	for _, n := range d.a[s.a0:s.a1] {
		d.counts[n] = count{}
	}
	for _, n := range d.b[s.b0:s.b1] {
		d.counts[n] = count{}
	}
	return longestIncreasing(both), shared
}

// longestIncreasing returns the longest subsequence of pairs, in order of a, whose b increases.
func longestIncreasing(pairs []pair) []pair {
	tails := []int{} // the pair with the least b that ends a run of each length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(tails, p.b, func(t, b int) int { return pairs[t].b - b })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	run := make([]pair, 0, len(tails))
	for i := tails[len(tails)-1]; i >= 0; i = before[i] {
		run = append(run, pairs[i])
	}
	slices.Reverse(run)
	return run
}

// greedy compares a region by Myers' algorithm: it computes how far each number of edits leads on each diagonal, until
// the end is reached, and then goes back.
func (d *differ) greedy(s span) {
	a, b := d.a[s.a0:s.a1], d.b[s.b0:s.b1]
	most := min(len(a)+len(b), maxEdits)
	far := make([]int32, 2*most+3) // the furthest line of a on the diagonal k, at most+1+k
	var trace [][]int32
	for edits := 0; edits <= most && !d.exhausted(); edits++ {
		for k := -edits; k <= edits; k += 2 {
			x := step(far, most+1, k, edits)
			from := x
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			d.steps -= x - from + 1
			far[most+1+k] = int32(x)
			if x >= len(a) && k == len(a)-len(b) {
				d.back(s, trace, edits, k)
				return
			}
		}
		trace = append(trace, slices.Clone(far[most+1-edits:most+2+edits]))
	}
	d.addChange(s)
}

// step returns where on the diagonal k one more edit leads.
func step(far []int32, zero, k, edits int) int {
	if k == -edits || k != edits && far[zero+k-1] < far[zero+k+1] {
		return int(far[zero+k+1]) // a line of b is inserted
	}
	return int(far[zero+k-1]) + 1 // a line of a is deleted
}

// back follows the edits from the end of a part to its start. trace has how far each number of edits led.
func (d *differ) back(s span, trace [][]int32, edits, k int) {
	list := make([]span, 0, edits)
	for ; edits > 0; edits-- {
		was := trace[edits-1] // of the diagonals from -(edits-1)
		zero := edits - 1
		at := func(k int) int32 {
			if k < -zero || k > zero {
				return -1
			}
			return was[zero+k]
		}
		if k == -edits || k != edits && at(k-1) < at(k+1) {
			x := int(at(k + 1))
			y := x - (k + 1)
			list = append(list, span{s.a0 + x, s.a0 + x, s.b0 + y, s.b0 + y + 1})
			k++
		} else {
			x := int(at(k - 1))
			y := x - (k - 1)
			list = append(list, span{s.a0 + x, s.a0 + x + 1, s.b0 + y, s.b0 + y})
			k--
		}
	}
	for _, one := range slices.Backward(list) {
		d.addChange(one)
	}
}
