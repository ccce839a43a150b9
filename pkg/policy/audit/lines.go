package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"os"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// openLog opens a file of a log for reading, and returns its current size.
func openLog(path string) (*os.File, int64, error) {
	f, err := safefile.Open(path, math.MaxInt64)
	if err != nil {
		return nil, 0, diag.Errorf(diag.CodeOf(err), "cannot read the audit log: %w", err).
			WithHint("%s", diag.HintOf(err))
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// lines yields the current lines of a file, in order or in reverse. A line longer than maxLine is nil. A line is only
// valid until the next one.
func lines(path string, reverse bool) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, size, err := openLog(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = f.Close() }()
		if reverse {
			for r, err := range backward(f, size) {
				var line []byte
				if err == nil {
					line, err = r.read(f)
				}
				if !yield(line, err) || err != nil {
					return
				}
			}
			return
		}
		in := bufio.NewReaderSize(io.LimitReader(f, size), int(min(size+1, maxLine))) // thousands of logs may be open
		for {
			line, err := nextLine(in, io.Discard)
			if errors.Is(err, io.EOF) || !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// nextLine returns a line without its end. For a line longer than maxLine it returns nil, and writes the line to long.
// A line is only valid until the next call.
func nextLine(in *bufio.Reader, long io.Writer) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err == nil || len(line) > 0 && errors.Is(err, io.EOF) {
		return bytes.TrimSuffix(line, []byte("\n")), nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, _ = long.Write(line) // a digest or io.Discard, which cannot fail
		line, err = in.ReadSlice('\n')
	}
	_, _ = long.Write(bytes.TrimSuffix(line, []byte("\n")))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, nil
}

// lineRange is the position of a line in a file, without its end.
type lineRange struct{ start, end int64 }

// read returns the line, nil if it is longer than maxLine.
func (l lineRange) read(f io.ReaderAt) ([]byte, error) {
	if l.end-l.start >= maxLine {
		return nil, nil
	}
	line := make([]byte, l.end-l.start)
	if _, err := f.ReadAt(line, l.start); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return line, nil
}

// backward yields the positions of the lines in the first size bytes of a file, the last line first.
func backward(f io.ReaderAt, size int64) iter.Seq2[lineRange, error] {
	return func(yield func(lineRange, error) bool) {
		if size == 0 {
			return
		}
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			yield(lineRange{}, err)
			return
		}
		end := size
		if last[0] == '\n' {
			end--
		}
		for end >= 0 {
			start, err := lineStart(f, end)
			if !yield(lineRange{start, end}, err) || err != nil {
				return
			}
			end = start - 1
		}
	}
}

// lineStart returns the start of the line that ends at end.
func lineStart(f io.ReaderAt, end int64) (int64, error) {
	buffer := make([]byte, 4<<10)
	for end > 0 {
		part := buffer[:min(end, int64(len(buffer)))]
		end -= int64(len(part))
		if _, err := f.ReadAt(part, end); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return end + int64(i) + 1, nil
		}
	}
	return 0, nil
}

func parse(line []byte) (r Record, ok bool) {
	return r, json.Unmarshal(line, &r) == nil && r.Seq > 0 && r.Action != ""
}

// link has the fields that chain a record to others.
type link struct {
	Seq  int64  `json:"seq"`
	Prev string `json:"prev"`
	Gap  bool   `json:"gap"`
}

// parseLink parses these fields; ok is false for a line that is not a record.
func parseLink(line []byte) (r link, ok bool) {
	ok = len(line) > 0 && json.Unmarshal(line, &r) == nil && 0 < r.Seq && r.Seq < maxSeq
	return r, ok
}

// lastLine is the state of the log that the next record depends on.
type lastLine struct {
	seq    int64  // number of the last record
	digest string // digest of the last line
	open   bool   // the last line is incomplete
	torn   bool   // the last line is not a record
}

// readEnd reads the last lines of a log.
func readEnd(f *os.File) (t lastLine, err error) {
	info, err := f.Stat()
	if err != nil {
		return t, err
	}
	n := 0
	for r, err := range backward(f, info.Size()) {
		if err != nil {
			return t, err
		}
		if n == 0 {
			t.open = r.end == info.Size()
			if t.digest, err = digestOf(io.NewSectionReader(f, r.start, r.end-r.start)); err != nil {
				return t, err
			}
		}
		line, err := r.read(f)
		if err != nil {
			return t, err
		}
		if r, ok := parseLink(line); ok {
			t.seq += r.Seq
			t.torn = t.torn || t.open
			return t, nil
		}
		t.torn = true
		t.seq++ // an unreadable line counts as a record
		if n++; n == maxTorn {
			break
		}
	}
	return t, nil
}
