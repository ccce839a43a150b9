package audit

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

// Read says what was found in a log.
type Read struct {
	Records int64 // how many there are
	Damaged int64 // how many lines are not records: torn, of something else, or longer than a record can be
}

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
		h := s.choose(cursors)
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

// label returns the name that a log's file gives to the machine it is from, where its records do not say.
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

// cursor is the next record of a log.
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

// choose returns the log whose record is the next one, nil at the end. Times are RFC 3339 in UTC.
func (s *Stream) choose(cursors []*cursor) (first *cursor) {
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
