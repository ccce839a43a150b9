package evaluate

import "bytes"

// maxLine limits a line of an agent's output, in bytes. A longer line is left out.
const maxLine = 32 << 20

// lineWriter calls each for every complete line that is written.
type lineWriter struct {
	each func(line []byte)
	rest []byte
	skip bool // the rest of the line is left out
}

// Write splits data into lines. It never fails.
func (w *lineWriter) Write(data []byte) (int, error) {
	n := len(data)
	for {
		line, after, complete := bytes.Cut(data, []byte("\n"))
		if w.rest = append(w.rest, line...); len(w.rest) > maxLine {
			w.rest, w.skip = nil, true
		}
		if !complete {
			return n, nil
		}
		w.end()
		data = after
	}
}

// end ends the current line.
func (w *lineWriter) end() {
	if len(w.rest) > 0 && !w.skip {
		w.each(w.rest)
	}
	w.rest, w.skip = w.rest[:0], false
}
