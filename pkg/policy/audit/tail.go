package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// tail is what a new record has to know of the log.
type tail struct {
	seq    int64  // of the last record
	digest string // of the last line
	open   bool   // the last line has no end
	torn   bool   // the last line is no record
}

// readEnd reads the last lines of a log.
func readEnd(f *os.File) (t tail, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return t, err
	}
	end := info.Size()
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, end-1); err != nil {
		return t, err
	}
	if t.open = last[0] != '\n'; !t.open {
		end--
	}
	for n := 0; end >= 0 && n < maxTorn; n++ {
		start, err := lineStart(f, end)
		if err != nil {
			return t, err
		}
		if n == 0 {
			if t.digest, err = digestOf(io.NewSectionReader(f, start, end-start)); err != nil {
				return t, err
			}
		}
		seq, ok, err := sequence(f, start, end)
		if err != nil {
			return t, err
		}
		if ok {
			t.seq += seq
			t.torn = t.torn || t.open
			return t, nil
		}
		t.torn = true
		t.seq++ // a line that cannot be read counts as a record
		end = start - 1
	}
	return t, nil
}

// lineStart returns where the line begins that ends at end.
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

// sequence returns the number of the record between two places of a log.
func sequence(f io.ReaderAt, start, end int64) (seq int64, ok bool, err error) {
	if end-start > maxLine {
		return 0, false, nil
	}
	line := make([]byte, end-start)
	if _, err := f.ReadAt(line, start); err != nil && !errors.Is(err, io.EOF) {
		return 0, false, err
	}
	r, ok := parseLink(line)
	return r.Seq, ok, nil
}

// parseLink reads what makes a line one of a chain; ok is false for a line that is no record.
func parseLink(line []byte) (r link, ok bool) {
	ok = len(line) > 0 && json.Unmarshal(line, &r) == nil && 0 < r.Seq && r.Seq < maxSeq
	return r, ok
}
