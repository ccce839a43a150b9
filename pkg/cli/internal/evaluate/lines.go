package evaluate

import (
	"bytes"
	"sync"
)

// maxLine limits a line of an agent's output, in bytes. A longer line is left out.
const maxLine = 32 << 20

// lineWriter calls each for every complete line that is written until it is closed.
type lineWriter struct {
	each func(line []byte)

	mu     sync.Mutex // a process that outlives the agent may still write
	rest   []byte
	skip   bool // the rest of the line is left out
	closed bool
}

// Write splits data into lines. It never fails.
func (w *lineWriter) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(data)
	for !w.closed {
		line, after, complete := bytes.Cut(data, []byte("\n"))
		if w.rest = append(w.rest, line...); len(w.rest) > maxLine {
			w.rest, w.skip = nil, true
		}
		if !complete {
			break
		}
		w.end()
		data = after
	}
	return n, nil
}

// end ends the current line.
func (w *lineWriter) end() {
	if len(w.rest) > 0 && !w.skip {
		w.each(w.rest)
	}
	w.rest, w.skip = w.rest[:0], false
}

// close ends the last line. What is written later is ignored.
func (w *lineWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end()
	w.closed = true
}
