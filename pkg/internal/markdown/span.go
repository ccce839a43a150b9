package markdown

import "bytes"

// rawSpan is a code span or a comment with its positions.
type rawSpan struct {
	outer extent // with its delimiters
	inner extent // the content
	text  extent // in Reader.joinedText: the content, if it differs from the file
}

// readTicks reads a code span, or backticks outside of one, and returns where to continue.
func (r *Reader) readTicks(c cursor) int {
	end := r.lines[len(r.lines)-1].end
	start := c.pos + r.run(c.pos, end)
	closer := r.closingTicks(start, end, start-c.pos)
	if closer < 0 {
		return start
	}
	next := closer + start - c.pos
	span := rawSpan{outer: extent{c.pos, next}, inner: extent{start, closer}}
	if last := r.find(c, closer); last.line == c.line {
		r.trimSpan(&span)
	} else {
		r.joinSpan(&span, c.line, last.line)
		r.at = last.line
	}
	r.spans = append(r.spans, span)
	return next
}

// trimSpan removes one space at both ends of a single-line span. In a table, it removes the backslash before a bar.
func (r *Reader) trimSpan(span *rawSpan) {
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
	from := len(r.joinedText)
	for i, b := range content {
		if b != '\\' || i+1 == len(content) || content[i+1] != '|' {
			r.joinedText = append(r.joinedText, b)
		}
	}
	span.text = extent{from, len(r.joinedText)}
}

// joinSpan is trimSpan for a span on several lines: line endings become spaces.
func (r *Reader) joinSpan(span *rawSpan, first, last int) {
	from, start, end := len(r.joinedText), span.inner.start, span.inner.end
	if end == r.lines[last].start {
		end = r.lines[last-1].end
	}
	for i := first; i <= last; i++ {
		piece := extent{max(span.inner.start, r.lines[i].start), min(span.inner.end, r.lines[i].end)}
		line := r.text[piece.start:piece.end]
		if i < last {
			line, _ = cutLine(line)
		}
		r.joinedText = append(r.joinedText, line...)
		if i < last {
			r.joinedText = append(r.joinedText, ' ')
		}
	}
	text := r.joinedText[from:]
	r.steps += len(text)
	span.inner, span.text = extent{start, end}, extent{from, len(r.joinedText)}
	if text[0] != ' ' || text[len(text)-1] != ' ' || isBlank(text) {
		return
	}
	span.text.start++
	span.text.end--
	span.inner.start++
	if r.text[start] == '\r' {
		span.inner.start++
		r.deviations |= deviatesLineEnd
	}
	span.inner.end--
	if r.text[end-1] == '\n' && r.text[end-2] == '\r' {
		span.inner.end--
	}
}

// run returns the number of backticks from an offset on.
func (r *Reader) run(at, end int) int {
	n := 0
	for at+n < end && r.text[at+n] == '`' {
		n++
	}
	r.steps += n
	return n
}

// closingTicks returns the offset of the next run of backticks of a length, or -1. At most one search per block fails:
// after that, findRuns has recorded the remaining runs.
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

// findRuns records the last run of backticks of each length.
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

// lastRun returns the offset of the last run of backticks of a length.
func (r *Reader) lastRun(length int) int {
	if length < len(r.runs) {
		return r.runs[length]
	}
	return r.longRuns[length]
}
