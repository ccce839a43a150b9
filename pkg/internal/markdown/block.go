package markdown

type containerKind uint8

const (
	quoteContainer containerKind = iota
	itemContainer                // a list's open item; closing it closes the list
	noteContainer                // the definition of a footnote
)

// container is an open block that contains others.
type container struct {
	kind     containerKind
	marker   byte // of a list: one of - + * . )
	offset   int  // of an item: indentation of its content, in columns
	children int  // of an item: number of blocks in it
	note     int  // of a footnote's definition: its index
	outer    int  // the enclosing footnote
	quotes   int  // number of block quotes up to and including this container
	items    int  // number of items, likewise
}

// leafKind is the kind of the open block that contains no other blocks.
type leafKind uint8

const (
	noLeaf leafKind = iota
	paragraphLeaf
	fencedLeaf
	indentedLeaf
	htmlLeaf
)

// readLine reads a line: it matches the containers that continue, then continues the open leaf or opens blocks.
func (r *Reader) readLine() {
	at, sibling := r.matchContainers()
	if at == len(r.stack) && r.leaf > paragraphLeaf && r.continueLeaf() {
		return
	}
	r.openBlocks(at, sibling)
}

// matchContainers returns the number of open containers that the line continues, and whether it starts the next item of
// the first list that it does not continue.
func (r *Reader) matchContainers() (at int, sibling bool) {
	quotes, items := 0, 0
	for i := range r.stack {
		if r.blank() {
			return r.matchBlank(i, quotes, items), false
		}
		r.steps++
		c := &r.stack[i]
		switch c.kind {
		case quoteContainer:
			if !r.quoteMarker() {
				return i, false
			}
			quotes++
		case noteContainer:
			if r.indent() < 4 {
				return i, false
			}
			r.skip(4)
		case itemContainer:
			if ok, next := r.matchItem(c); !ok {
				return i, next
			}
			items++
		}
	}
	return len(r.stack), false
}

// matchBlank is matchContainers for a blank rest of the line at container i: only a block quote ends there.
func (r *Reader) matchBlank(i, quotes, items int) int {
	last := r.stack[len(r.stack)-1]
	if last.quotes > quotes {
		for r.stack[i].kind != quoteContainer { // rare: the quote is the innermost container, and ends here
			i++
			r.steps++
		}
		return i
	}
	if last.items > items {
		r.pos, r.pad = r.stop, 0
		if r.text[r.stop-1] == '\n' {
			r.pos--
		}
		r.next = r.pos
	}
	if last.kind == itemContainer && last.children == 0 {
		r.empty = true
	}
	return len(r.stack)
}

// quoteMarker reads the marker of a block quote.
func (r *Reader) quoteMarker() bool {
	if r.indent() > 3 || r.next >= r.stop || r.text[r.next] != '>' {
		return false
	}
	r.pos, r.col, r.pad = r.next+1, r.nextCol+1, 0
	if r.pos < r.stop {
		switch r.text[r.pos] {
		case ' ':
			r.pos++
			r.col++
		case '\t':
			r.pad = 3 - r.col%4
			r.pos++
			r.col += r.pad + 1
		}
	}
	r.seek()
	return true
}

// opening is the state while a line opens blocks.
type opening struct {
	at          int  // the line does not continue the containers from this index on
	opened      bool // they were closed, and a block was opened
	paragraph   bool // a paragraph is open, and the line may continue it
	inContainer bool // it is in the container that gets the new blocks
}

type start uint8

const (
	noStart start = iota
	leafStart
	containerStart // the line may open more blocks
	againStart     // the open paragraph was closed
)

// openBlocks opens the blocks that start on the rest of the line, inside of the first containers.
func (r *Reader) openBlocks(at int, sibling bool) {
	o := opening{at: at, paragraph: r.leaf == paragraphLeaf}
	o.inContainer = o.paragraph && at == len(r.stack)
	if sibling && !r.nextItem(&o) {
		return
	}
	for !r.blank() {
		switch r.start(&o) {
		case leafStart:
			return
		case noStart:
			r.openText(&o)
			return
		}
	}
	if !o.opened {
		r.closeFrom(at)
	}
}

// begin closes everything that the line does not continue, before a block is opened.
func (r *Reader) begin(o *opening) {
	if !o.opened {
		r.closeFrom(o.at)
	}
	*o = opening{at: o.at, opened: true}
	if n := len(r.stack); n > 0 {
		r.stack[n-1].children++
	}
}

// push opens a container.
func (r *Reader) push(o *opening, c container) *container {
	r.begin(o)
	if n := len(r.stack); n > 0 {
		c.quotes, c.items = r.stack[n-1].quotes, r.stack[n-1].items
	}
	switch c.kind {
	case quoteContainer:
		c.quotes++
	case itemContainer:
		c.items++
	case noteContainer:
		c.outer, r.note = r.note, c.note
	}
	r.stack = append(r.stack, c)
	return &r.stack[len(r.stack)-1]
}

// start opens the block at the rest of the line, except a paragraph or indented code.
func (r *Reader) start(o *opening) start {
	c := r.text[r.next]
	if classes[c]&classStart == 0 || r.indent() > 3 {
		return noStart
	}
	switch c {
	case '#':
		return r.startHeading(o)
	case '`', '~':
		return r.startFence(o)
	case '<':
		return r.startHTML(o)
	case '[':
		return r.startNote(o)
	case '>':
		r.push(o, container{kind: quoteContainer})
		r.quoteMarker()
		return containerStart
	}
	if (c == '-' || c == '=') && o.inContainer && r.underline() {
		return r.startUnderlined(o)
	}
	if (c == '-' || c == '*' || c == '_') && r.isRule(r.next) {
		r.begin(o)
		return leafStart
	}
	return r.startList(o)
}

// openText continues the paragraph with the rest of the line, or opens a paragraph or indented code.
func (r *Reader) openText(o *opening) {
	if o.paragraph {
		r.addLine()
		return
	}
	r.begin(o)
	if r.indent() > 3 {
		r.openIndented()
		return
	}
	r.leaf, r.table = paragraphLeaf, false
	r.leaves = append(r.leaves, leaf{kind: paragraphLeaf, first: len(r.segs), note: r.note})
	r.addLine()
}

// addLine adds the rest of the line to the open paragraph.
func (r *Reader) addLine() {
	switch r.text[r.next] {
	case '|', '-', ':', '\r':
		r.table = true
	}
	r.segs = append(r.segs, seg{r.pos, r.stop, r.pad})
}

// closeFrom closes the open leaf and the containers from an index on.
func (r *Reader) closeFrom(at int) {
	r.closeLeaf()
	for n := len(r.stack); n > at; n = len(r.stack) {
		c := r.stack[n-1]
		r.stack = r.stack[:n-1]
		if c.kind == noteContainer {
			r.closeNote(c)
		}
	}
}
