package markdown

// closeParagraph closes the open paragraph.
func (r *Reader) closeParagraph() { r.endParagraph(false) }

// endParagraph finds the definitions at the start of the open paragraph, and the table at its end. As in goldmark, the
// paragraph is trimmed first only if an underline ends it.
func (r *Reader) endParagraph(trimmed bool) {
	l := &r.leaves[len(r.leaves)-1]
	l.count = len(r.segs) - l.first
	if trimmed {
		for i := l.first; i < len(r.segs); i++ {
			s := r.segs[i]
			r.segs[i] = seg{start: skipSpace(r.text[:s.stop], s.start), stop: s.stop}
		}
		last := &r.segs[len(r.segs)-1]
		last.stop = trim(r.text, extent{last.start, last.stop}).end
	}
	if first := r.segs[l.first]; r.text[skipSpace(r.text, first.start)] == '[' {
		lines := r.definitions(r.segs[l.first:])
		l.first += lines
		l.count -= lines
	}
	if r.table && l.count > 1 {
		r.findTable(l)
	}
}

// definitions reads the definitions at the start of a paragraph, and returns their number of lines.
func (r *Reader) definitions(segs []seg) int {
	r.lines = r.lines[:0]
	for _, s := range segs {
		r.lines = append(r.lines, extent{s.start, s.stop})
	}
	line := 0
	for line < len(r.lines) {
		next, ok := r.definition(cursor{line, r.lines[line].start})
		if !ok {
			break
		}
		line = next
	}
	return line
}

// definition reads one definition, and returns the line after it.
func (r *Reader) definition(c cursor) (next int, ok bool) {
	c, _ = r.skipSpaces(c)
	line := c.line
	if r.peek(c) != '[' {
		return 0, false
	}
	label := r.advance(c)
	end, ok := r.findClosure(label, '[', ']')
	if !ok {
		return 0, false
	}
	c = r.advance(end)
	if r.peek(c) != ':' {
		return 0, false
	}
	c, _ = r.skipSpaces(r.advance(c))
	destination, c, ok := r.destination(c)
	if !ok {
		return 0, false
	}
	next, ok = r.definitionEnd(line, c)
	if !ok || !r.define(label, end, destination) {
		return 0, false
	}
	return next, true
}

// definitionEnd reads the optional title of a definition, and returns the line after the definition.
func (r *Reader) definitionEnd(line int, c cursor) (next int, ok bool) {
	complete := r.blankRest(c) // the line ends here, so the definition may end
	next = c.line + 1
	c, spaces := r.skipSpaces(c)
	closer, quoted := closerOf(r.peek(c))
	if !quoted {
		return next, complete
	}
	if spaces == 0 {
		return 0, false
	}
	end, found := r.findClosure(r.advance(c), r.peek(c), closer)
	if !found {
		r.noteTitleDeviation(end.line+1, complete)
		return next, complete
	}
	c = r.advance(end)
	if r.blankRest(c) {
		return c.line + 1, true
	}
	if c, _ = r.skipSpaces(c); complete && (r.peek(c) == '[' || line+1 < next) {
		r.deviations |= deviatesTitle
	}
	return next, complete
}

// noteTitleDeviation records that goldmark reads definitions on the line after an unclosed title.
func (r *Reader) noteTitleDeviation(line int, complete bool) {
	if !complete || line >= len(r.lines) {
		return
	}
	if c, _ := r.skipSpaces(cursor{line, r.lines[line].start}); r.peek(c) == '[' {
		r.deviations |= deviatesTitle
	}
}

// define records a definition, unless its label is blank. The first definition of a label counts.
func (r *Reader) define(start, end cursor, destination extent) bool {
	label := r.between(start, end)
	if isBlank(label) {
		return false
	}
	r.steps += len(label)
	r.label = foldLabel(r.label[:0], label)
	key := r.label
	if _, ok := r.defined[string(key)]; ok {
		return true
	}
	if r.defined == nil {
		r.defined = map[string]int{}
	}
	r.defined[string(key)] = len(r.defs)
	r.defs = append(r.defs, destination)
	return true
}

// closerOf returns the closing delimiter of a title.
func closerOf(opener byte) (closer byte, ok bool) {
	switch opener {
	case '"', '\'':
		return opener, true
	case '(':
		return ')', true
	}
	return 0, false
}
