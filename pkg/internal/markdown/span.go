package markdown

import "bytes"

// foundSpan is a code span or a comment with its place.
type foundSpan struct {
	outer extent // with what starts and ends it
	inner extent // the content
	text  extent // of Reader.loose: the content, where it is not as it stands in the file
}

// readTicks reads a code span, or backticks that begin none, and returns where to go on.
func (r *Reader) readTicks(c cursor) int {
	end := r.lines[len(r.lines)-1].end
	start := c.pos + r.run(c.pos, end)
	closer := r.closingTicks(start, end, start-c.pos)
	if closer < 0 {
		return start
	}
	next := closer + start - c.pos
	span := foundSpan{outer: extent{c.pos, next}, inner: extent{start, closer}}
	if last := r.find(c, closer); last.line == c.line {
		r.trimSpan(&span)
	} else {
		r.joinSpan(&span, c.line, last.line)
		r.at = last.line
	}
	r.spans = append(r.spans, span)
	return next
}

// trimSpan removes the space at both ends of a span in one line. In a table, a backslash before a bar is no part of it.
func (r *Reader) trimSpan(span *foundSpan) {
	content := r.text[span.inner.start:span.inner.end]
	if content[0] == ' ' && content[len(content)-1] == ' ' && !isBlank(content) {
		span.inner.start++
		span.inner.end--
	}
	if !r.cell {
		return
	}
	content = r.text[span.inner.start:span.inner.end]
	if !bytes.Contains(content, []byte(`\|`)) {
		return
	}
	from := len(r.loose)
	for i, b := range content {
		if b != '\\' || i+1 == len(content) || content[i+1] != '|' {
			r.loose = append(r.loose, b)
		}
	}
	span.text = extent{from, len(r.loose)}
}

// joinSpan is trimSpan for a span in several lines: their endings are spaces.
func (r *Reader) joinSpan(span *foundSpan, first, last int) {
	from, start, end := len(r.loose), span.inner.start, span.inner.end
	if end == r.lines[last].start {
		end = r.lines[last-1].end
	}
	for i := first; i <= last; i++ {
		piece := extent{max(span.inner.start, r.lines[i].start), min(span.inner.end, r.lines[i].end)}
		line := r.text[piece.start:piece.end]
		if i < last {
			line, _ = cutLine(line)
		}
		r.loose = append(r.loose, line...)
		if i < last {
			r.loose = append(r.loose, ' ')
		}
	}
	text := r.loose[from:]
	r.steps += len(text)
	span.inner, span.text = extent{start, end}, extent{from, len(r.loose)}
	if text[0] != ' ' || text[len(text)-1] != ' ' || isBlank(text) {
		return
	}
	span.text.start++
	span.text.end--
	span.inner.start++
	if r.text[start] == '\r' {
		span.inner.start++
		r.departs |= departLineEnd
	}
	span.inner.end--
	if r.text[end-1] == '\n' && r.text[end-2] == '\r' {
		span.inner.end--
	}
}

// run returns how many backticks there are from a place on.
func (r *Reader) run(at, end int) int {
	n := 0
	for at+n < end && r.text[at+n] == '`' {
		n++
	}
	r.steps += n
	return n
}

// closingTicks returns the place of the first run of backticks of a length, or -1. At most one search in a block fails:
// from then on it is known which runs are still to come.
func (r *Reader) closingTicks(from, end, length int) int {
	if r.ticks && r.lastRun(length) < from {
		return -1
	}
	for at := from; ; {
		i := bytes.IndexByte(r.text[at:end], '`')
		if i < 0 {
			r.steps += end - at
			break
		}
		at += i
		n := r.run(at, end)
		r.steps += i
		if n == length {
			return at
		}
		at += n
	}
	r.findRuns(from, end)
	return -1
}

// findRuns remembers where the last run of backticks of each length is.
func (r *Reader) findRuns(from, end int) {
	r.ticks = true
	clear(r.runs[:])
	clear(r.longRuns)
	for at := from; ; {
		i := bytes.IndexByte(r.text[at:end], '`')
		if i < 0 {
			r.steps += end - at
			return
		}
		at += i
		n := r.run(at, end)
		if n < len(r.runs) {
			r.runs[n] = at
		} else {
			if r.longRuns == nil {
				r.longRuns = map[int]int{}
			}
			r.longRuns[n] = at
		}
		at += n
		r.steps += i
	}
}

// lastRun returns the place of the last run of backticks of a length.
func (r *Reader) lastRun(length int) int {
	if length < len(r.runs) {
		return r.runs[length]
	}
	return r.longRuns[length]
}
