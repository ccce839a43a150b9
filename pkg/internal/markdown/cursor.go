package markdown

// cursor is a position in lines that are read as one text. The end of a line is the start of the next one.
type cursor struct{ line, pos int }

// endOfText follows the last line. It is not a real character.
const endOfText = 0xff

// peek returns the byte at c.
func (r *Reader) peek(c cursor) byte {
	if c.pos >= r.lines[c.line].end {
		return endOfText
	}
	return r.text[c.pos]
}

// advance returns the cursor after the byte at c.
func (r *Reader) advance(c cursor) cursor { return r.cursorAt(c.line, c.pos+1) }

// cursorAt returns the cursor of an offset in a line.
func (r *Reader) cursorAt(line, pos int) cursor {
	if pos >= r.lines[line].end && line+1 < len(r.lines) {
		return cursor{line + 1, r.lines[line+1].start}
	}
	return cursor{line, pos}
}

// find returns the cursor of an offset at or after another cursor.
func (r *Reader) find(from cursor, pos int) cursor {
	for pos >= r.lines[from.line].end && from.line+1 < len(r.lines) {
		from.line++
		r.steps++
	}
	return cursor{from.line, max(pos, r.lines[from.line].start)}
}

// skipSpaces returns the first cursor from c on without a space, and the number of skipped spaces.
func (r *Reader) skipSpaces(c cursor) (next cursor, spaces int) {
	for {
		for end := r.lines[c.line].end; c.pos < end; c.pos++ {
			if !isSpace(r.text[c.pos]) {
				r.steps += spaces
				return c, spaces
			}
			spaces++
		}
		if c.line+1 >= len(r.lines) {
			r.steps += spaces
			return c, spaces
		}
		c = cursor{c.line + 1, r.lines[c.line+1].start}
	}
}

// blankRest reports whether the rest of the line is blank.
func (r *Reader) blankRest(c cursor) bool {
	i, end := c.pos, r.lines[c.line].end
	for i < end && isSpace(r.text[i]) {
		i++
	}
	r.steps += i - c.pos
	return i >= end
}

// findClosure returns the position of the first unescaped closing character, unless an opening one precedes it.
func (r *Reader) findClosure(c cursor, opener, closer byte) (end cursor, ok bool) {
	for {
		line := r.text[:r.lines[c.line].end]
		i := c.pos
		for ; i < len(line); i++ {
			switch b := line[i]; {
			case b == '\\' && i+1 < len(line) && isPunct(line[i+1]):
				i++
			case b == closer:
				r.steps += i - c.pos
				return cursor{c.line, i}, true
			case b == opener:
				r.steps += i - c.pos
				return c, false
			}
		}
		r.steps += i - c.pos
		if c.line+1 >= len(r.lines) {
			return c, false
		}
		c = cursor{c.line + 1, r.lines[c.line+1].start}
	}
}

// between returns the text between two positions; end is on the same line as start or at its end. A text on one line is
// a part of the page; otherwise the next call overwrites it.
func (r *Reader) between(start, end cursor) []byte {
	if start.line == end.line {
		return r.text[start.pos:end.pos]
	}
	r.joined = append(r.joined[:0], r.text[start.pos:r.lines[start.line].end]...)
	for i := start.line + 1; i < end.line; i++ {
		r.joined = append(r.joined, r.text[r.lines[i].start:r.lines[i].end]...)
	}
	r.joined = append(r.joined, r.text[r.lines[end.line].start:end.pos]...)
	r.steps += len(r.joined)
	return r.joined
}

// destination reads the destination of a link after optional spaces, and returns the position after it. A destination
// in angle brackets may be empty.
func (r *Reader) destination(c cursor) (e extent, next cursor, ok bool) {
	c, _ = r.skipSpaces(c)
	line := r.text[:r.lines[c.line].end]
	if c.pos >= len(line) {
		return e, c, false
	}
	if line[c.pos] == '<' {
		return r.angled(c, line)
	}
	open, i := 0, c.pos
loop:
	for ; i < len(line) && open <= maxParentheses; i++ {
		switch b := line[i]; {
		case b == '\\' && i+1 < len(line) && isPunct(line[i+1]):
			i++
		case b == '(':
			open++
		case b == ')':
			if open == 0 {
				break loop
			}
			open--
		case isSpace(b):
			break loop
		}
	}
	r.steps += i - c.pos
	if open > maxParentheses {
		r.deviations |= deviatesParentheses
		return e, c, false
	}
	return extent{c.pos, i}, r.cursorAt(c.line, i), i > c.pos
}

// maxParentheses limits nested parentheses in a destination, so that its end is found in linear time.
const maxParentheses = 32

// angled is destination for one in angle brackets, which must end on its line.
func (r *Reader) angled(c cursor, line []byte) (e extent, next cursor, ok bool) {
	if r.unangled == len(line) { // an earlier one on this line is not closed, so this one is not either
		return e, c, false
	}
	i := c.pos + 1
	for ; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) && isPunct(line[i+1]) {
			i++
		} else if line[i] == '>' {
			r.steps += i - c.pos
			return extent{c.pos + 1, i}, r.cursorAt(c.line, i+1), true
		}
	}
	r.steps += i - c.pos
	r.unangled = len(line)
	return e, c, false
}
