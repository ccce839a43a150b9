package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// Stream reads several logs at once, those of many machines say, in the order of their records' times. Of each log one
// record is in memory.
type Stream struct {
	Paths   []string // the logs; each with the files that it was in before
	Reverse bool     // the newest record first
	Filter  Filter

	read Read
}

// Each hands on the records that pass the filter, until the function returns false or an error.
func (s *Stream) Each(ctx context.Context, each func(Record) (more bool, err error)) error {
	s.read = Read{}
	var heads []*head
	defer func() {
		for _, h := range heads {
			h.stop()
		}
	}()
	for _, path := range s.Paths {
		files, err := Files(filepath.Clean(path))
		if err != nil {
			return err
		}
		h := &head{}
		h.next, h.stop = iter.Pull2(s.records(ctx, files, Label(path)))
		heads = append(heads, h)
		if err := h.step(); err != nil {
			return err
		}
	}
	for {
		h := s.choose(heads)
		if h == nil {
			return nil
		}
		r := h.record
		if err := h.step(); err != nil {
			return err
		}
		if !s.Filter.Pass(r) {
			continue
		}
		if more, err := each(r); err != nil || !more {
			return err
		}
	}
}

// Read returns what was found until now.
func (s *Stream) Read() Read { return s.read }

// Label returns the name that a log's file gives to the machine it is from, where its records do not say.
func Label(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ext)
	if name != strings.TrimSuffix(Name, ext) {
		return name
	}
	if abs, err := filepath.Abs(path); err == nil {
		return filepath.Base(filepath.Dir(abs))
	}
	return name
}

// head is the next record of a log.
type head struct {
	record Record
	ok     bool
	next   func() (Record, error, bool)
	stop   func()
}

func (h *head) step() (err error) {
	h.record, err, h.ok = h.next()
	return err
}

// choose returns the log whose record is the next one, nil at the end. Times are RFC 3339 in UTC.
func (s *Stream) choose(heads []*head) (first *head) {
	for _, h := range heads {
		switch {
		case !h.ok:
		case first == nil, !s.Reverse && h.record.Time < first.record.Time, s.Reverse && h.record.Time > first.record.Time:
			first = h
		}
	}
	return first
}

// records reads the files of one log.
func (s *Stream) records(ctx context.Context, files []string, label string) iter.Seq2[Record, error] {
	lines := forward
	if s.Reverse {
		lines = backward
		slices.Reverse(files)
	}
	return func(yield func(Record, error) bool) {
		for _, file := range files {
			more, n := true, 0
			err := lines(file, func(line []byte) bool {
				if n++; n%1000 == 0 && ctx.Err() != nil {
					return false
				}
				r, ok := parse(line)
				if !ok {
					s.read.Damaged++
					return true
				}
				s.read.Records++
				if r.Machine == "" {
					r.Machine = label
				}
				more = yield(r, nil)
				return more
			})
			if err = errors.Join(err, ctx.Err()); err != nil && more {
				yield(Record{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// parse reads a record.
func parse(line []byte) (r Record, ok bool) {
	return r, json.Unmarshal(line, &r) == nil && r.Seq > 0 && r.Action != ""
}

// openLog opens a file of a log for reading, and returns the size that it has now.
func openLog(path string) (*os.File, int64, error) {
	f, err := safefile.Open(path, math.MaxInt64)
	if err != nil {
		return nil, 0, diag.Errorf(diag.CodeOf(err), "the audit log cannot be read: %w", err).WithHint("%s", diag.HintOf(err))
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// forward hands on the lines of a file in their order.
func forward(path string, each func(line []byte) bool) error {
	f, size, err := openLog(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	in := bufio.NewReaderSize(io.LimitReader(f, size), maxLine)
	for {
		line, err := nextLine(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || !each(line) {
			return err
		}
	}
}

// backward hands on the lines of a file, the last one first. A line that is too long is handed on empty.
func backward(path string, each func(line []byte) bool) error {
	f, end, err := openLog(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	block := make([]byte, 64<<10)
	var line []byte // what is known of the line that is read: its end
	long, begun := false, false
	flush := func() bool {
		more := true
		if begun {
			more = each(line)
		}
		line, long, begun = line[:0], false, true
		return more
	}
	for end > 0 {
		part := block[:min(end, int64(len(block)))]
		end -= int64(len(part))
		if _, err := f.ReadAt(part, end); err != nil {
			return err
		}
		if !begun && part[len(part)-1] != '\n' {
			begun = true
		}
		for {
			i := bytes.LastIndexByte(part, '\n')
			if long = long || len(line)+len(part)-i-1 > maxLine; long {
				line = line[:0]
			} else {
				line = slices.Insert(line, 0, part[i+1:]...)
			}
			if i < 0 {
				break
			}
			if !flush() {
				return nil
			}
			part = part[:i]
		}
	}
	if begun {
		each(line)
	}
	return nil
}
