package markdown

// rawLink is a link with its positions.
type rawLink struct {
	target extent
	start  int // offset of the link
	text   extent
	def    int // index of its definition, or -1
	kind   linkKind
}

type linkKind uint8

const (
	plainLink linkKind = iota
	imageLink
	markupLink // of HTML
)

// maxLabel is the maximum length of a reference's label.
const maxLabel = 999

// openBracket reads an opening bracket or a reference to a footnote.
func (r *Reader) openBracket(c cursor) int {
	if end := r.noteRef(c); end > 0 {
		r.lastEdge = end
		return end
	}
	b := bracket{cursor: r.advance(c), start: c.pos}
	if bang := (cursor{c.line, c.pos - 1}); bang.pos >= r.lines[c.line].start && r.text[bang.pos] == '!' &&
		!r.escaped(bang) {
		b.start, b.image = bang.pos, true
	}
	r.brackets = append(r.brackets, b)
	r.lastEdge = c.pos
	return c.pos + 1
}

// noteRef returns the end of the footnote reference at a cursor, or 0.
func (r *Reader) noteRef(c cursor) int {
	if len(r.notes) == 0 {
		return 0
	}
	line := r.text[:r.lines[c.line].end]
	if c.pos+1 >= len(line) || line[c.pos+1] != '^' {
		return 0
	}
	label, ok := r.noteLabel(line, c.pos+2)
	if !ok {
		return 0
	}
	note, ok := r.noteNumbers[string(line[label.start:label.end])]
	if !ok {
		return 0
	}
	r.refs = append(r.refs, noteRef{note: note})
	r.hide(c.pos, label.end+1)
	return label.end + 1
}

// closeBracket reads a closing bracket after an opening one, which may end a link.
func (r *Reader) closeBracket(c cursor) int {
	b := r.brackets[len(r.brackets)-1]
	r.brackets = r.brackets[:len(r.brackets)-1]
	inner := r.lastEdge >= b.pos // brackets between them
	r.lastEdge = c.pos
	if n := len(r.brackets); n > 0 && r.brackets[n-1].pos-r.brackets[0].start > maxLabel-1 {
		r.deviations |= deviatesFarBrackets
	}
	if !b.image && r.lastLink > b.start { // a link inside of a link
		return c.pos + 1
	}
	found := rawLink{start: b.start, text: extent{b.pos, c.pos}, def: -1}
	after := r.advance(c)
	end, ok := after, false
	switch r.peek(after) {
	case '(':
		found.target, end, ok = r.inlineTail(r.advance(after))
	case '[':
		var is bool
		found.def, end, is, ok = r.referenceTail(b, c, r.advance(after), inner)
		if is && !ok {
			return c.pos + 1
		}
	}
	if !ok {
		end = after
		if found.def, ok = r.reference(b.cursor, c, inner); !ok {
			return c.pos + 1
		}
	}
	if b.image {
		found.kind = imageLink
	} else {
		r.lastLink = max(r.lastLink, b.start)
	}
	if found.def >= 0 {
		found.target = r.defs[found.def]
	}
	r.links = append(r.links, found)
	r.at = end.line
	r.hide(c.pos, end.pos)
	return end.pos
}

// inlineTail reads the destination and title of a link up to the closing parenthesis.
func (r *Reader) inlineTail(c cursor) (target extent, next cursor, ok bool) {
	c, _ = r.skipSpaces(c)
	if r.peek(c) == ')' {
		return target, r.advance(c), true
	}
	if target, c, ok = r.destination(c); !ok {
		return target, c, false
	}
	c, _ = r.skipSpaces(c)
	if closer, quoted := closerOf(r.peek(c)); quoted {
		if c, ok = r.findClosure(r.advance(c), r.peek(c), closer); !ok {
			return target, c, false
		}
		c, _ = r.skipSpaces(r.advance(c))
	}
	return target, r.advance(c), r.peek(c) == ')'
}

// referenceTail reads the label after a link's text. It reports whether there is a label, and whether it is defined. A
// blank label means the text.
func (r *Reader) referenceTail(b bracket, textEnd, c cursor, inner bool) (def int, next cursor, is, ok bool) {
	end, found := r.findClosure(c, '[', ']')
	if !found {
		return -1, c, false, false
	}
	next = r.advance(end)
	if r.blankBetween(c, end) {
		def, ok = r.reference(b.cursor, textEnd, inner)
	} else {
		def, ok = r.reference(c, end, false)
	}
	return def, next, true, ok
}

// blankBetween reports whether there is only white space between two cursors.
func (r *Reader) blankBetween(start, end cursor) bool {
	c, _ := r.skipSpaces(start)
	return c.line > end.line || c.line == end.line && c.pos >= end.pos
}

// reference returns the definition of a label. A label with brackets in it is never defined.
func (r *Reader) reference(start, end cursor, brackets bool) (def int, ok bool) {
	if brackets || len(r.defs) == 0 {
		return -1, false
	}
	label := r.between(start, end)
	if len(label) > maxLabel {
		return -1, false
	}
	r.steps += len(label)
	r.label = foldLabel(r.label[:0], label)
	def, ok = r.defined[string(r.label)]
	if !ok {
		def = -1
	}
	return def, ok
}
