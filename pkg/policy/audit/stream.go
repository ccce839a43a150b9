package audit

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

// Read counts the lines that a [Stream] has read.
type Read struct {
	Records int64 // lines with records
	Damaged int64 // lines without records: incomplete, foreign, or too long
}

// Stream merges several logs, for example of many machines, in the order of their records' times. It has one record of
// each log in memory.
type Stream struct {
	Paths   []string // paths of the logs; closed files are found
	Reverse bool     // the newest record first
	Filter  Filter

	read Read
}

// Each calls each with the records that pass the filter, until it returns false or an error.
func (s *Stream) Each(ctx context.Context, each func(Record) (more bool, err error)) error {
	s.read = Read{}
	var cursors []*cursor
	defer func() {
		for _, h := range cursors {
			h.stop()
		}
	}()
	for _, path := range s.Paths {
		files, err := logFiles(filepath.Clean(path))
		if err != nil {
			return err
		}
		h := &cursor{}
		h.next, h.stop = iter.Pull2(s.records(ctx, files, label(path)))
		cursors = append(cursors, h)
		if err := h.step(); err != nil {
			return err
		}
	}
	for {
		h := s.nextCursor(cursors)
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

// Read returns the counts so far.
func (s *Stream) Read() Read { return s.read }

// label returns the machine's name in the file name of a log, for records without one.
func label(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ext)
	if name != strings.TrimSuffix(Name, ext) {
		return name
	}
	if abs, err := filepath.Abs(path); err == nil {
		return filepath.Base(filepath.Dir(abs))
	}
	return name
}

// cursor has the next record of a log.
type cursor struct {
	record Record
	ok     bool
	next   func() (Record, error, bool)
	stop   func()
}

func (h *cursor) step() (err error) {
	h.record, err, h.ok = h.next()
	return err
}

// nextCursor returns the cursor with the next record, nil at the end. Times in RFC 3339 and UTC sort as text.
func (s *Stream) nextCursor(cursors []*cursor) (first *cursor) {
	for _, h := range cursors {
		switch {
		case !h.ok:
		case first == nil,
			!s.Reverse && h.record.Time < first.record.Time,
			s.Reverse && h.record.Time > first.record.Time:
			first = h
		}
	}
	return first
}

// records yields the records in the files of one log.
func (s *Stream) records(ctx context.Context, files []string, label string) iter.Seq2[Record, error] {
	if s.Reverse {
		slices.Reverse(files)
	}
	return func(yield func(Record, error) bool) {
		n := 0
		for _, file := range files {
			for line, err := range lines(file, s.Reverse) {
				if n++; err == nil && n%1000 == 1 {
					err = ctx.Err()
				}
				if err != nil {
					yield(Record{}, err)
					return
				}
				r, ok := parse(line)
				if !ok {
					s.read.Damaged++
					continue
				}
				s.read.Records++
				r.Machine = cmp.Or(r.Machine, label)
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}
