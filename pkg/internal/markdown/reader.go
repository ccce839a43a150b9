package markdown

import "bytes"

// Read reads the Markdown of text[from:]. All offsets in the page are into text.
func Read(text []byte, from int) *Page { return new(Reader).Read(text, from) }

// Reader reads pages one after the other and reuses its memory. The zero value is ready to use. It is not safe for
// concurrent use.
type Reader struct {
	text []byte
	from int // where the page starts
	line

	// Blocks: the open containers, and the leaf in the innermost one.
	stack       []container
	leaf        leafKind
	empty       bool // a blank line follows the marker of an empty list item
	code        codeLeaf
	html        int  // the kind of the open HTML block
	ended       bool // it ends on its first line
	table       bool // a line of the open paragraph may be a table's delimiter row
	note        int  // the innermost open footnote, or -1
	closed      []int
	notes       []note
	noteNumbers map[string]int // footnotes by label
	leaves      []leaf
	segs        []seg
	defs        []extent       // destinations of definitions
	defined     map[string]int // definitions by folded label

	inlines

	// Results.
	links      []rawLink
	spans      []rawSpan
	comments   []rawSpan
	blocks     []rawBlock
	starts     []int
	codes      []extent
	anchors    []anchor
	parts      []extent
	refs       []noteRef
	joinedText []byte // text of code spans that differs from the file

	// For the page.
	words []byte // its strings
	ends  []int
	used  []bool // used definitions

	label []byte // the folded label of a lookup

	deviations deviation
	steps      int // amount of work, for tests
}

// seg is a line of a paragraph, without container markers. Columns of a partly read tab precede it.
type seg struct{ start, stop, pad int }

// Read reads the Markdown of text[from:]. All offsets in the page are into text.
func (r *Reader) Read(text []byte, from int) *Page {
	r.reset(text, from)
	for r.nextLine() {
		r.readLine()
	}
	r.closeFrom(0)
	r.readInlines()
	return r.page()
}

func (r *Reader) reset(text []byte, from int) {
	r.text, r.from = text, from
	r.line = line{stop: from}
	r.stack, r.leaf, r.empty, r.table = r.stack[:0], noLeaf, false, false
	r.note, r.closed, r.notes = -1, r.closed[:0], r.notes[:0]
	r.leaves, r.segs, r.defs = r.leaves[:0], r.segs[:0], r.defs[:0]
	clear(r.defined)
	clear(r.noteNumbers)
	r.links, r.spans, r.comments, r.blocks = r.links[:0], r.spans[:0], r.comments[:0], r.blocks[:0]
	r.starts, r.codes, r.anchors, r.parts, r.refs = r.starts[:0], r.codes[:0], r.anchors[:0], r.parts[:0], r.refs[:0]
	r.joinedText, r.deviations, r.steps = r.joinedText[:0], 0, 0
	r.nextTick, r.nextOpen, r.nextLess, r.nextClose = -1, -1, -1, -1
}

// line is the current line, and the position on it.
type line struct {
	stop    int // after the line's end
	pos     int // the unread rest
	pad     int // unread columns of the tab before pos
	col     int // the column of pos in the file, without pad
	next    int // the first byte from pos on other than space and tab
	nextCol int
	lastTab int // the last tab before next, or -1
	rule    rule
}

// nextLine advances to the next line. It returns false at the end.
func (r *Reader) nextLine() bool {
	start := r.stop
	if start >= len(r.text) {
		return false
	}
	stop := len(r.text)
	if i := bytes.IndexByte(r.text[start:], '\n'); i >= 0 {
		stop = start + i + 1
	}
	r.line = line{stop: stop, pos: start}
	r.steps += stop - start
	r.seek()
	return true
}

// seek finds the first byte after the indentation of the rest of the line.
func (r *Reader) seek() {
	p, col := r.pos, r.col
	r.lastTab = -1
	for ; p < r.stop; p++ {
		if c := r.text[p]; c == ' ' {
			col++
		} else if c == '\t' {
			col += 4 - col%4
			r.lastTab = p
		} else {
			break
		}
	}
	r.steps += p - r.pos
	r.next, r.nextCol = p, col
}

// tabbed reports whether a tab indents the rest of the line.
func (r *Reader) tabbed() bool { return r.lastTab >= r.pos }

// indent returns the indentation of the rest of the line, in columns.
func (r *Reader) indent() int { return r.nextCol - r.col + r.pad }

// index returns the indentation of the rest of the line in bytes, counting each column of a partly read tab as a byte.
func (r *Reader) index() int { return r.next - r.pos + r.pad }

// blank reports whether the rest of the line is blank.
func (r *Reader) blank() bool {
	if r.next >= r.stop {
		return true
	}
	switch r.text[r.next] {
	case '\n':
		return true
	case '\r':
		return isBlank(r.text[r.next:r.stop])
	}
	return false
}

// skip reads n columns of indentation, which must exist.
func (r *Reader) skip(columns int) {
	if columns <= r.pad {
		r.pad -= columns
		return
	}
	columns -= r.pad
	r.pad = 0
	for columns > 0 && r.pos < r.next {
		width := 1
		if r.text[r.pos] == '\t' {
			width = 4 - r.col%4
		}
		r.pos++
		r.col += width
		columns -= width
	}
	if columns < 0 {
		r.pad = -columns
	}
}
