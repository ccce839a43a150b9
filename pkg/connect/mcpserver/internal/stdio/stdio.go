// Package stdio reads streams of JSON-RPC whose messages are lines, from peers that also write other things.
package stdio

import (
	"bufio"
	"bytes"
	"io"
)

// MaxMessage is the maximum size of a message, in bytes.
const MaxMessage = 16 << 20

// Filter is a stream whose lines a function replaces or drops.
type Filter struct {
	input  *bufio.Reader
	accept func(line []byte, tooLong bool) ([]byte, error)
	rest   []byte // of the current line
}

// NewFilter returns a filter. It calls accept for each line without surrounding white space, with an empty line and
// tooLong for one of more than MaxMessage bytes, and reads the result instead. An error of accept ends the stream.
func NewFilter(input io.Reader, accept func(line []byte, tooLong bool) ([]byte, error)) *Filter {
	return &Filter{input: bufio.NewReaderSize(input, 64<<10), accept: accept}
}

// Read implements [io.Reader].
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

// line returns the next line, or reports that it was too long. The last line may lack a newline.
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
