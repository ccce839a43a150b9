package markdown

import "bytes"

// readHTML reads a block of HTML.
func (r *Reader) readHTML(l *leaf) {
	r.lines = r.lines[:0]
	for _, start := range r.starts[l.first : l.first+l.count] {
		r.lines = append(r.lines, extent{start, 0})
	}
	for i := range r.lines {
		r.lines[i].end = l.stop
		if i+1 < len(r.lines) {
			r.lines[i].end = r.lines[i].start + bytes.IndexByte(r.text[r.lines[i].start:], '\n') + 1
		}
	}
	r.markup(extent{l.start, l.stop}, r.lines)
}

// markup reads the comments, addresses, and names in a piece of HTML. The lines of the piece show which parts belong to
// container markers.
func (r *Reader) markup(e extent, lines []extent) {
	m := markup{Reader: r, b: r.text[e.start:e.end], base: e.start}
	for i := 1; i < len(lines); i++ {
		if !isBlank(r.text[lines[i-1].end:lines[i].start]) {
			m.b, m.copied = r.withoutContainers(e, lines), true
			break
		}
	}
	r.steps += len(m.b)
	for i := 0; ; {
		n := bytes.IndexByte(m.b[i:], '<')
		if n < 0 || i+n+1 >= len(m.b) {
			return
		}
		i += n + 1
		switch {
		case isLetter(m.b[i]):
			for i < len(m.b) && !isSpace(m.b[i]) && m.b[i] != '>' && m.b[i] != '/' {
				i++
			}
			i = m.attributes(i)
		case bytes.HasPrefix(m.b[i:], []byte("!--")):
			i = m.comment(i - 1)
		}
	}
}

// withoutContainers returns a piece of the text with container markers replaced by spaces.
func (r *Reader) withoutContainers(e extent, lines []extent) []byte {
	r.joined = append(r.joined[:0], r.text[e.start:e.end]...)
	for i := 1; i < len(lines); i++ {
		for j := lines[i-1].end; j < lines[i].start; j++ {
			if c := &r.joined[j-e.start]; !isSpace(*c) {
				*c = ' '
			}
		}
	}
	return r.joined
}

// markup is a piece of HTML.
type markup struct {
	*Reader
	b    []byte
	base int // its offset in the text

	copied bool // container markers were replaced
}

// comment reads the comment at a position, and returns the position after it.
func (m *markup) comment(start int) int {
	from := start + len("<!--")
	to, end := len(m.b), len(m.b)
	switch rest := m.b[from:]; {
	case bytes.HasPrefix(rest, []byte(">")):
		to, end = from, from+len(">")
	case bytes.HasPrefix(rest, []byte("->")):
		to, end = from, from+len("->")
	default:
		if i := bytes.Index(rest, []byte("-->")); i >= 0 {
			to, end = from+i, from+i+len("-->")
		}
	}
	found := rawSpan{outer: extent{m.base + start, m.base + end}, inner: extent{m.base + from, m.base + to}}
	if m.copied {
		found.text.start = len(m.joinedText)
		m.joinedText = append(m.joinedText, m.b[from:to]...)
		found.text.end = len(m.joinedText)
	}
	m.comments = append(m.comments, found)
	return end
}

// attributes reads the attributes after a tag's name, and returns the end of the tag.
func (m *markup) attributes(i int) int {
	b := m.b
	for i < len(b) && b[i] != '>' {
		if isSpace(b[i]) || b[i] == '/' || b[i] == '=' {
			i++
			continue
		}
		start := i
		for i < len(b) && !isSpace(b[i]) && b[i] != '=' && b[i] != '>' && b[i] != '/' {
			i++
		}
		name := b[start:i]
		next := skipSpace(b, i)
		if next >= len(b) || b[next] != '=' {
			continue
		}
		var value extent
		value, i = attributeValue(b, skipSpace(b, next+1))
		m.refer(name, extent{m.base + value.start, m.base + value.end})
	}
	return i
}

// attributeValue returns the value at a position, and the position after it.
func attributeValue(b []byte, i int) (value extent, next int) {
	if i < len(b) && (b[i] == '"' || b[i] == '\'') {
		n := bytes.IndexByte(b[i+1:], b[i])
		if n < 0 {
			return extent{i + 1, len(b)}, len(b)
		}
		return extent{i + 1, i + 1 + n}, i + 1 + n + 1
	}
	start := i
	for i < len(b) && !isSpace(b[i]) && b[i] != '>' {
		i++
	}
	return extent{start, i}, i
}

// refer records the address or name in an attribute.
func (r *Reader) refer(name []byte, value extent) {
	switch {
	case is(name, "src"), is(name, "href"):
		r.links = append(r.links, rawLink{target: value, start: value.start, def: -1, kind: markupLink})
	case is(name, "id"), is(name, "name"):
		r.parts = append(r.parts, value)
		r.anchors = append(r.anchors, anchor{parts: 1, html: true})
	}
}

// is reports whether a name equals a lowercase one, ignoring case.
func is(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i, c := range name {
		if c|0x20 != lower[i] {
			return false
		}
	}
	return true
}
