package markdown

import "bytes"

// Read reads the Markdown of text[from:]. All offsets in the page are into text.
func Read(text []byte, from int) *Page { return new(Reader).Read(text, from) }

// Reader reads one page after the other and reuses its memory. The zero value is ready to use, by one goroutine at a
// time.
type Reader struct {
	text []byte
	line

	// Blocks: the containers that are open, and the leaf in the innermost of them.
	stack       []container
	leaf        leafKind
	empty       bool // a blank line follows the marker of an empty list item
	code        codeLeaf
	html        int  // the kind of HTML block that is open
	ended       bool // what ends it is in its first line
	table       bool // a line of the open paragraph may be the delimiter row of a table
	note        int  // the innermost footnote that is open, or -1
	closed      []int
	notes       []note
	noteNumbers map[string]int // footnotes by their label
	leaves      []leaf
	segs        []seg
	defs        []extent       // destinations of definitions
	defined     map[string]int // definitions by their folded label

	inlines

	// What is found.
	links      []rawLink
	spans      []rawSpan
	comments   []rawSpan
	blocks     []rawBlock
	starts     []int
	codes      []extent
	anchors    []anchor
	parts      []extent
	refs       []noteRef
	joinedText []byte // the text of code spans that is not as it stands in the file

	// For the page.
	words []byte // its strings
	ends  []int
	used  []bool // definitions that are used

	label []byte // the folded label that is looked up

	deviations deviation
	steps      int // how much was done, for tests
}

// seg is a line of a paragraph, or the rest of it that is no container's. Before it come columns of a tab that are its
// own.
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
	r.text = text
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

// line is the current line, and the position in it.
type line struct {
	stop    int // after the line's end
	pos     int // what is not read yet
	pad     int // columns of a tab before pos that are not read yet
	col     int // the column of pos in the file, without pad
	next    int // the first byte from pos on that is no space and no tab
	nextCol int
	lastTab int // the last tab before next, -1 if there is none
	rule    rule
}

// nextLine advances to the next line; it reports whether there is one.
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

// seek finds the first byte of the rest of the line after its indentation.
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

// indent returns how many columns the rest of the line is indented.
func (r *Reader) indent() int { return r.nextCol - r.col + r.pad }

// index returns how many bytes the rest of the line is indented, counting the columns of a tab that is partly read as
// such.
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

// skip reads that many columns of indentation, which must exist.
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
