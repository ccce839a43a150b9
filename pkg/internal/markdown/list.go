package markdown

import "bytes"

// marker is the marker of a list item.
type marker struct {
	char  byte // the character that identifies the list: one of - + * . )
	end   int  // the offset after the marker
	index int  // the same, relative to the rest of the line
	first bool // it has no number, or the number 1
	blank bool // the line ends after it
}

// listMarker returns the marker at the rest of the line, which must be indented by less than 4 columns. As in goldmark,
// a marker in a container must not be indented by a tab.
func (r *Reader) listMarker() (m marker, ok bool) {
	i, b := r.next, r.text[:r.stop]
	if r.tabbed() || i >= len(b) {
		return m, false
	}
	m = marker{char: b[i], first: true}
	switch c := b[i]; {
	case c == '-' || c == '+' || c == '*':
	case isDigit(c):
		for i < len(b) && isDigit(b[i]) && i-r.next < 10 {
			i++
		}
		if i-r.next > 9 || i >= len(b) || b[i] != '.' && b[i] != ')' {
			return m, false
		}
		m.char = b[i]
		m.first = isOne(b[r.next:i])
	default:
		return m, false
	}
	m.end = i + 1
	m.index = r.index() + m.end - r.next
	if m.end < len(b) && b[m.end] != '\n' && b[m.end] != ' ' && b[m.end] != '\t' {
		return m, false
	}
	p := skipSpace(b, m.end)
	m.blank = p == len(b)
	r.steps += p - r.next
	return m, true
}

// isOne reports whether digits are the number 1.
func isOne(digits []byte) bool { return string(bytes.TrimLeft(digits, "0")) == "1" }

// matchItem reports whether the line continues an item, or starts the next one.
func (r *Reader) matchItem(c *container) (ok, next bool) {
	indent, isEmpty := r.indent(), c.children == 0
	if indent < c.offset || isEmpty {
		var m marker
		found := false
		if indent < 4 {
			m, found = r.listMarker()
		}
		switch {
		case found:
			if m.char != c.marker || r.isRule(r.next) {
				return false, false
			}
			if indent < c.offset || r.empty {
				return false, true
			}
		case !isEmpty || indent < c.offset || r.empty:
			return false, false
		}
	} else if r.empty {
		return false, false
	}
	r.skip(c.offset)
	return true, false
}

// startList opens a list with its first item.
func (r *Reader) startList(o *opening) start {
	m, ok := r.listMarker()
	if !ok || o.inContainer && (!m.first || m.blank) {
		return noStart
	}
	c := r.push(o, container{kind: itemContainer, marker: m.char})
	if !r.beginItem(c, m) {
		return leafStart
	}
	return containerStart
}

// nextItem ends the item at which the containers stop, and opens the list's next item. It reports whether the line
// continues after the marker.
func (r *Reader) nextItem(o *opening) bool {
	m, _ := r.listMarker()
	r.closeFrom(o.at + 1)
	*o = opening{at: o.at, opened: true}
	c := &r.stack[o.at]
	c.children = 0
	return r.beginItem(c, m)
}

// beginItem reads the marker of an item and the indentation of its content. It reports whether the item has content on
// this line.
func (r *Reader) beginItem(c *container, m marker) bool {
	r.empty = false
	width := 1
	if !m.blank {
		if w := r.markerSpace(m); w <= 4 {
			width = w
		}
	}
	c.offset = m.index + width
	if m.blank {
		return false
	}
	r.pos, r.col, r.pad = m.end, r.nextCol+m.end-r.next, 0
	w := 0
	for w < width {
		if r.text[r.pos] == '\t' {
			w += 4 - (m.index+w)%4
			r.col += 4 - r.col%4
		} else {
			w++
			r.col++
		}
		r.pos++
	}
	r.pad = w - width
	r.seek()
	return true
}

// markerSpace returns the number of columns after a marker. As in goldmark, tabs count from the start of the rest of
// the line.
func (r *Reader) markerSpace(m marker) int {
	width := 0
	for i := m.end; i < r.stop; i++ {
		switch r.text[i] {
		case ' ':
			width++
		case '\t':
			width += 4 - (m.index+width)%4
		default:
			r.steps += i - m.end
			return width
		}
	}
	return width
}

// rule caches the end of the current line that consists only of spaces and one of - * _.
type rule struct {
	computed bool
	char     byte
	from     int // the first byte of that end
	third    int // the third mark from the end, -1 if there are fewer
}

// isRule reports whether the rest of the line from a byte on, which is not a space, is a thematic break.
func (r *Reader) isRule(at int) bool {
	if !r.rule.computed {
		r.rule = r.findRule()
	}
	return r.rule.third >= at && r.rule.from <= at && r.text[at] == r.rule.char
}

func (r *Reader) findRule() rule {
	found := rule{computed: true, third: -1}
	marks := 0
	i := r.stop - 1
	for ; i >= r.pos; i-- {
		c := r.text[i]
		if isSpace(c) {
			continue
		}
		if marks == 0 {
			if c != '-' && c != '*' && c != '_' {
				break
			}
			found.char = c
		}
		if c != found.char {
			break
		}
		if marks++; marks == 3 {
			found.third = i
		}
	}
	found.from = i + 1
	r.steps += r.stop - found.from
	return found
}
