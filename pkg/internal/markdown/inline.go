package markdown

import (
	"bytes"
	"slices"
)

// inlines is the state while the inline content of a block is read.
type inlines struct {
	lines      []extent // of the block, without container markers
	at         int      // the current line
	brackets   []bracket
	lastLink   int      // the opening bracket of the last opened link
	lastEdge   int      // the last unescaped bracket
	title      bool     // the block is a heading
	anchorText []extent // of a heading: its anchor text so far
	anchorEnd  cursor   // of a heading: start of the text that is not processed yet
	cell       bool     // the block is a table cell
	joined     []byte

	// The next position of each special character, or the end of the text.
	nextTick, nextOpen, nextLess, nextClose int

	// Known failures of searches in the rest of the block, which keep the time linear.
	ticks    bool // runs and longRuns have the position of the last run of backticks of each length
	runs     [64]int
	longRuns map[int]int
	unended  [htmlData + 1]bool // HTML of a kind is not closed
	unangled int                // up to this offset, an opening angle bracket of a destination is not closed
}

// bracket is an opening bracket that may begin a link.
type bracket struct {
	cursor     // after the bracket
	start  int // of the link
	image  bool
}

// noteRef is a reference to a footnote.
type noteRef struct{ leaf, note int }

// readInlines reads the inline content of all blocks.
func (r *Reader) readInlines() {
	for i := range r.leaves {
		l := &r.leaves[i]
		links := len(r.links)
		refs := len(r.refs)
		if l.kind == htmlLeaf {
			r.readHTML(l)
		} else if l.count > 0 {
			r.readText(l)
		} else if l.title {
			r.anchors = append(r.anchors, anchor{})
		}
		r.sortLinks(links)
		for j := range r.refs[refs:] {
			r.refs[refs+j].leaf = i
		}
		l.links, l.spans, l.anchors, l.parts = len(r.links), len(r.spans), len(r.anchors), len(r.parts)
	}
}

// sortLinks sorts the links of a block by their starts. They are found in the order of their ends.
func (r *Reader) sortLinks(from int) {
	links := r.links[from:]
	for i := 1; i < len(links); i++ {
		if links[i].start < links[i-1].start {
			slices.SortFunc(links, func(a, b rawLink) int { return a.start - b.start })
			return
		}
	}
}

// readText reads a paragraph or a heading, and the table at its end.
func (r *Reader) readText(l *leaf) {
	if l.title && l.delimiter > 0 {
		r.deviations |= deviatesOrder
	}
	if n := l.text(); n > 0 {
		segs := r.segs[l.first : l.first+n]
		start, stop := segs[0].start, segs[n-1].stop
		if l.title || r.hasSpecial(start, stop) {
			r.lines = r.lines[:0]
			for _, s := range segs {
				r.lines = append(r.lines, extent{skipSpace(r.text[:s.stop], s.start), s.stop})
			}
			last := &r.lines[n-1]
			*last = trim(r.text, *last)
			r.title = l.title
			r.readLines()
			r.title = false
		}
	}
	if l.delimiter > 0 {
		r.cell = true
		r.readTable(l)
		r.cell = false
	}
}

// hasSpecial reports whether a piece of the text has a character that may start a link or code. Calls must be in the
// order of the pieces.
func (r *Reader) hasSpecial(from, to int) bool {
	return r.nextSpecial(from) < to
}

// nextSpecial returns the first special character from an offset on.
func (r *Reader) nextSpecial(from int) int {
	if r.nextTick < from {
		r.nextTick = r.index1('`', from)
	}
	if r.nextOpen < from {
		r.nextOpen = r.index1('[', from)
	}
	if r.nextLess < from {
		r.nextLess = r.index1('<', from)
	}
	first := min(r.nextTick, r.nextOpen, r.nextLess)
	if len(r.brackets) > 0 {
		if r.nextClose < from {
			r.nextClose = r.index1(']', from)
		}
		first = min(first, r.nextClose)
	}
	return first
}

// index1 returns the offset of the next byte c from an offset on, or the end of the text.
func (r *Reader) index1(c byte, from int) int {
	i := bytes.IndexByte(r.text[from:], c)
	if i < 0 {
		i = len(r.text) - from
	}
	r.steps += i
	return from + i
}

// readLines reads the inline content of r.lines.
func (r *Reader) readLines() {
	r.at, r.brackets, r.lastLink, r.lastEdge = 0, r.brackets[:0], -1, -1
	r.ticks, r.unended, r.unangled = false, [htmlData + 1]bool{}, -1
	r.anchorText, r.anchorEnd = r.anchorText[:0], cursor{0, r.lines[0].start}
	end := r.lines[len(r.lines)-1].end
	for pos := r.lines[0].start; ; {
		pos = r.nextSpecial(pos)
		if pos >= end {
			break
		}
		c := r.find(cursor{r.at, pos}, pos)
		r.at = c.line
		if c.pos > pos { // inside of container markers
			pos = c.pos
			continue
		}
		if r.escaped(c) {
			pos++
			continue
		}
		pos = r.readSpecial(c)
	}
	r.brackets = r.brackets[:0]
	if r.title {
		r.hide(end, end)
		r.parts = append(r.parts, r.anchorText...)
		r.anchors = append(r.anchors, anchor{parts: len(r.anchorText)})
	}
}

// escaped reports whether a backslash escapes the character at a cursor.
func (r *Reader) escaped(c cursor) bool {
	i := c.pos
	for i > r.lines[c.line].start && r.text[i-1] == '\\' {
		i--
	}
	r.steps += c.pos - i + 1
	return (c.pos-i)%2 == 1
}

// readSpecial reads the construct at a special character, and returns where to continue.
func (r *Reader) readSpecial(c cursor) int {
	switch r.text[c.pos] {
	case '`':
		return r.readTicks(c)
	case '<':
		return r.readAngle(c)
	case '[':
		return r.openBracket(c)
	}
	return r.closeBracket(c)
}

// hide excludes a piece of a heading from its anchor text.
func (r *Reader) hide(from, to int) {
	if !r.title {
		return
	}
	for r.anchorEnd.pos < from {
		line := r.lines[r.anchorEnd.line]
		if end := min(line.end, from); r.anchorEnd.pos < end {
			r.anchorText = append(r.anchorText, extent{r.anchorEnd.pos, end})
		}
		if line.end >= from || r.anchorEnd.line+1 == len(r.lines) {
			break
		}
		r.anchorEnd = cursor{r.anchorEnd.line + 1, r.lines[r.anchorEnd.line+1].start}
		r.steps++
	}
	r.anchorEnd = r.find(r.anchorEnd, to)
}
