// Package stdio reads streams of JSON-RPC whose messages are lines, from peers that also write other things.
package stdio

import (
	"bufio"
	"bytes"
	"io"
)

// MaxMessage is how many bytes a message has at most.
const MaxMessage = 16 << 20

// Filter is a stream of which only the lines are read that somebody accepts.
type Filter struct {
	input  *bufio.Reader
	accept func(line []byte, tooLong bool) ([]byte, error)
	rest   []byte // of what is to be read
}

// NewFilter returns a filter. What accept returns is read in place of a line, which has no white space around it and
// may be empty; nothing of a line that is too long is kept. An error ends the stream.
func NewFilter(input io.Reader, accept func(line []byte, tooLong bool) ([]byte, error)) *Filter {
	return &Filter{input: bufio.NewReaderSize(input, 64<<10), accept: accept}
}

// Read reads from the next line that is accepted.
func (f *Filter) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, tooLong, err := f.line()
		if err == nil {
			f.rest, err = f.accept(line, tooLong)
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// line returns the next line, or that it was too long. The last line may have no end.
func (f *Filter) line() (line []byte, tooLong bool, err error) {
	for {
		part, err := f.input.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > MaxMessage; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case err == nil, err == io.EOF && (tooLong || len(line) > 0):
			return bytes.TrimSpace(line), tooLong, nil
		case err != bufio.ErrBufferFull: //nolint:errorlint // a reader returns it as it is
			return nil, false, err
		}
	}
}
