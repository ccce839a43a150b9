package lint

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// source is a file's text with its lines.
type source struct {
	path  string
	data  []byte
	lines []int // the offset of each line

	converted bool // the data is not as it is on disk, so that nothing can be edited in it

	last struct{ offset, line, column int } // what position answered; lines can be as long as a file
}

func newSource(path string, data []byte) *source { return &source{path: path, data: data} }

func (s *source) index() []int {
	if s.lines == nil {
		s.lines = append(make([]int, 0, 1+bytes.Count(s.data, []byte("\n"))), 0)
		for at := 0; ; {
			i := bytes.IndexByte(s.data[at:], '\n')
			if i < 0 {
				break
			}
			at += i + 1
			s.lines = append(s.lines, at)
		}
	}
	return s.lines
}

// line returns the text of a line, from 1, without its ending.
func (s *source) line(n int) string {
	lines := s.index()
	if n < 1 || n > len(lines) {
		return ""
	}
	end := len(s.data)
	if n < len(lines) {
		end = lines[n] - 1
	}
	return strings.TrimRight(string(s.data[lines[n-1]:end]), "\r")
}

// lineLength returns how many bytes a line has, with its ending.
func (s *source) lineLength(n int) int {
	lines := s.index()
	switch {
	case n < 1 || n > len(lines):
		return 0
	case n == len(lines):
		return len(s.data) - lines[n-1]
	}
	return lines[n] - lines[n-1]
}

// position returns the line and column of a byte.
func (s *source) position(offset int) (line, column int) {
	lines := s.index()
	offset = max(0, min(offset, len(s.data)))
	low, high := 0, len(lines)
	for low+1 < high {
		if mid := (low + high) / 2; lines[mid] <= offset {
			low = mid
		} else {
			high = mid
		}
	}
	from, column := lines[low], 1
	if s.last.line == low+1 && s.last.offset <= offset {
		from, column = s.last.offset, s.last.column
	}
	s.last.offset, s.last.line, s.last.column = offset, low+1, column+utf8.RuneCount(s.data[from:offset])
	return s.last.line, s.last.column
}
