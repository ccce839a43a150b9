package markdown

import (
	"cmp"
	"slices"
)

// note is the definition of a footnote.
type note struct {
	label  extent
	first  int // number of leaves before it
	number int // position by first use, from 1; 0 if unused
}

// noteLabel returns the label of a footnote that starts at a position on a line and ends at a bracket.
func (r *Reader) noteLabel(line []byte, start int) (label extent, ok bool) {
	end := min(len(line), start+maxLabel)
	for i := start; i < end; i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < end && isPunct(line[i+1]):
			i++
		case c == ']':
			r.steps += i - start
			return extent{start, i}, true
		case c == '[':
			r.steps += i - start
			return label, false
		}
	}
	r.steps += end - start
	return label, false
}

// startNote opens the definition of a footnote.
func (r *Reader) startNote(o *opening) start {
	line := r.text[:r.stop]
	if r.next+1 >= len(line) || line[r.next+1] != '^' {
		return noStart
	}
	label, ok := r.noteLabel(line, r.next+2)
	after := label.end + 2
	if !ok || after > len(line) || line[after-1] != ':' || isBlank(line[label.start:label.end]) {
		return noStart
	}
	r.push(o, container{kind: noteContainer, note: len(r.notes)})
	r.notes = append(r.notes, note{label: label, first: len(r.leaves)})
	for r.pos, r.col = r.next, r.nextCol; r.pos < after-r.pad; r.pos++ { // as in goldmark
		if line[r.pos] == '\t' {
			r.col += 4 - r.col%4
		} else {
			r.col++
		}
	}
	r.seek()
	return containerStart
}

// closeNote ends the definition of a footnote, and removes it from its container.
func (r *Reader) closeNote(c container) {
	r.note = c.outer
	if len(r.closed) > 0 {
		if n := len(r.stack); n > 0 {
			r.stack[n-1].children--
		}
	} else if c.outer >= 0 {
		r.deviations |= deviatesNotes
	}
	r.closed = append(r.closed, c.note)
	if r.noteNumbers == nil {
		r.noteNumbers = map[string]int{}
	}
	label := r.notes[c.note].label
	if _, ok := r.noteNumbers[string(r.text[label.start:label.end])]; !ok {
		r.noteNumbers[string(r.text[label.start:label.end])] = c.note
	}
}

// order returns the blocks in display order: footnotes last, by their first use.
func (r *Reader) order() []int {
	order := make([]int, 0, len(r.leaves))
	of := make([][]int, len(r.notes))
	for i := range r.leaves {
		if n := r.leaves[i].note; n >= 0 {
			of[n] = append(of[n], i)
		} else {
			order = append(order, i)
		}
	}
	r.number(order, of)
	used := slices.DeleteFunc(slices.Clone(r.closed), func(n int) bool { return r.notes[n].number == 0 })
	slices.SortFunc(used, func(a, b int) int { return cmp.Compare(r.notes[a].number, r.notes[b].number) })
	for _, n := range used {
		order = append(order, of[n]...)
	}
	return order
}

// number numbers the footnotes by their first use. All footnotes are numbered where the first of them ends.
func (r *Reader) number(body []int, of [][]int) {
	refs := make([][]int, len(r.leaves))
	for _, ref := range r.refs {
		refs[ref.leaf] = append(refs[ref.leaf], ref.note)
	}
	count := 0
	use := func(leaf int) {
		for _, n := range refs[leaf] {
			if r.notes[n].number == 0 {
				count++
				r.notes[n].number = count
			}
		}
	}
	i, first := 0, r.notes[r.closed[0]].first
	for ; i < len(body) && body[i] < first; i++ {
		use(body[i])
	}
	for _, n := range r.closed {
		for _, leaf := range of[n] {
			use(leaf)
		}
	}
	for ; i < len(body); i++ {
		use(body[i])
	}
}
