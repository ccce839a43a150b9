package markdown

import (
	"bytes"
	"unicode/utf8"
)

// readAngle reads the address or HTML at an opening angle bracket, and returns where to continue.
func (r *Reader) readAngle(c cursor) int {
	line := r.text[c.pos+1 : r.lines[c.line].end]
	if n := addressLength(line); n > 0 {
		r.steps += n
		end := c.pos + 1 + n + 1
		r.hide(c.pos, end)
		return end
	}
	end, ok := r.inlineHTML(c, line)
	if !ok {
		return c.pos + 1
	}
	r.at = end.line
	r.hide(c.pos, end.pos)
	r.markup(extent{c.pos, end.pos}, r.lines[c.line:end.line+1])
	return end.pos
}

// addressLength returns the length of the email address or URL before a closing angle bracket, or 0.
func addressLength(b []byte) int {
	n := emailLength(b)
	if n == 0 {
		n = urlLength(b)
	}
	if n == 0 || n >= len(b) || b[n] != '>' {
		return 0
	}
	return n
}

// emailLength returns the length of the email address at the start of a text, or 0.
func emailLength(b []byte) int {
	i := 0
	for i < min(len(b), 64) && isMailByte(b[i]) {
		i++
	}
	if i == 0 || i >= len(b) || b[i] != '@' {
		return 0
	}
	start := i + 1
	label := start
	for i = start; i < len(b) && i-start <= 255; i++ {
		switch c := b[i]; {
		case isAlnum(c) && i-label < 63:
		case c == '-' && i > label && i-label < 62:
		case c == '.' && i > label && b[i-1] != '-':
			label = i + 1
		case c == '>' && i > label && b[i-1] != '-':
			return i
		default:
			return 0
		}
	}
	return 0
}

func isMailByte(c byte) bool {
	return isAlnum(c) || c != 0 && bytes.IndexByte([]byte("!#$%&'*+-./=?^_`{|}~"), c) >= 0
}

// urlLength returns the length of the absolute URL at the start of a text, or 0.
func urlLength(b []byte) int {
	if len(b) == 0 || !isLetter(b[0]) {
		return 0
	}
	i := 1
	for i < len(b) && (isAlnum(b[i]) || b[i] == '+' || b[i] == '-' || b[i] == '.') {
		i++
	}
	if i == 1 || i > 33 || i >= len(b) || b[i] != ':' {
		return 0
	}
	for i++; i < len(b) && b[i] > ' ' && b[i] != '<' && b[i] != '>'; i++ {
	}
	return i
}

// inlineHTML returns the position after the HTML at an angle bracket. line is the rest of its line.
func (r *Reader) inlineHTML(c cursor, line []byte) (end cursor, ok bool) {
	switch {
	case len(line) == 0:
		return c, false
	case isLetter(line[0]):
		return r.openTag(r.after(c, 1))
	case line[0] == '/':
		return r.closeTag(c, line[1:])
	case bytes.HasPrefix(line, []byte("!--")):
		if bytes.HasPrefix(line, []byte("!-->")) {
			return r.after(c, len("<!-->")), true
		}
		if bytes.HasPrefix(line, []byte("!--->")) {
			return r.after(c, len("<!--->")), true
		}
		return r.until(htmlComment, r.after(c, len("<!--")), "-->")
	case line[0] == '?':
		return r.until(htmlInstruction, r.after(c, 1), "?>")
	case len(line) > 1 && line[0] == '!' && line[1] >= 'A' && line[1] <= 'Z':
		return r.until(htmlDeclaration, c, ">")
	case bytes.HasPrefix(line, []byte("![CDATA[")):
		return r.until(htmlData, c, "]]>")
	}
	return c, false
}

// after returns the position n bytes further on the line.
func (r *Reader) after(c cursor, bytes int) cursor { return r.cursorAt(c.line, c.pos+bytes) }

// until returns the position after the end of HTML of a kind.
func (r *Reader) until(kind int, c cursor, closer string) (end cursor, ok bool) {
	if r.unended[kind] {
		return c, false
	}
	for {
		line := r.text[c.pos:r.lines[c.line].end]
		if i := bytes.Index(line, []byte(closer)); i >= 0 {
			r.steps += i
			return r.after(c, i+len(closer)), true
		}
		r.steps += len(line)
		if c.line+1 == len(r.lines) {
			break
		}
		c = cursor{c.line + 1, r.lines[c.line+1].start}
	}
	r.unended[kind] = true
	if len(r.notes) > 0 {
		r.deviations |= deviatesOrder
	}
	return c, false
}

// closeTag returns the position after a closing tag whose name starts at c.
func (r *Reader) closeTag(c cursor, rest []byte) (end cursor, ok bool) {
	name := tagName(rest)
	if len(name) == 0 {
		return c, false
	}
	end = r.tagSpace(r.after(c, len("</")+len(name)))
	return r.advance(end), r.peek(end) == '>'
}

// tagSpace skips the spaces at the end of a tag. A carriage return counts only before a line feed.
func (r *Reader) tagSpace(c cursor) cursor {
	for {
		switch r.peek(c) {
		case ' ', '\t', '\n':
			c = r.advance(c)
		case '\r':
			next := r.advance(c)
			if r.peek(next) != '\n' {
				return c
			}
			c = r.advance(next)
		default:
			return c
		}
		r.steps++
	}
}

// openTag returns the position after an opening tag whose name starts at c.
func (r *Reader) openTag(c cursor) (end cursor, ok bool) {
	c = r.after(c, len(tagName(r.text[c.pos:r.lines[c.line].end])))
	for {
		name, spaces := r.skipSpaces(c)
		if spaces == 0 || !isNameStart(r.peek(name)) {
			break
		}
		if c, ok = r.attribute(name); !ok {
			return c, false
		}
	}
	c = r.tagSpace(c)
	if r.peek(c) == '/' {
		c = r.advance(c)
	}
	return r.advance(c), r.peek(c) == '>'
}

// attribute returns the position after the attribute whose name starts at c. ok is false if its value is invalid.
func (r *Reader) attribute(c cursor) (end cursor, ok bool) {
	line := r.text[:r.lines[c.line].end]
	i := c.pos
	for i < len(line) && isNameByte(line[i]) {
		i++
	}
	r.steps += i - c.pos
	end = r.cursorAt(c.line, i)
	c, _ = r.skipSpaces(end)
	if r.peek(c) != '=' {
		return end, true
	}
	c, _ = r.skipSpaces(r.advance(c))
	switch q := r.peek(c); {
	case q == '"' || q == '\'':
		return r.quoted(r.advance(c), q)
	case c.pos >= r.lines[c.line].end:
		return c, false
	}
	line = r.text[:r.lines[c.line].end]
	for i = c.pos; i < len(line) && isValueByte(line[i]); i++ {
	}
	r.steps += i - c.pos
	r.checkValue(line[c.pos:i])
	return r.cursorAt(c.line, i), i > c.pos
}

// quoted returns the position after the closing quote of a value.
func (r *Reader) quoted(c cursor, quote byte) (end cursor, ok bool) {
	last := r.lines[len(r.lines)-1].end
	i := bytes.IndexByte(r.text[c.pos:last], quote) // outside of the container's part of the line
	if i < 0 {
		r.steps += last - c.pos
		return c, false
	}
	r.steps += i
	r.checkValue(r.text[c.pos : c.pos+i])
	return r.advance(r.find(c, c.pos+i)), true
}

func (r *Reader) checkValue(b []byte) {
	if !utf8.Valid(b) || bytes.Contains(b, []byte("\ufffd")) {
		r.deviations |= deviatesInvalid
	}
}
