package audit

import (
	"cmp"
	"container/heap"
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
// each log in memory, and all logs open.
type Stream struct {
	Paths     []string // paths of the logs; closed files are found
	Reverse   bool     // the newest record first
	Unordered bool     // one log after the other, with one open file
	Filter    Filter

	read Read
}

// Each calls each with the records that pass the filter, until it returns false or an error.
func (s *Stream) Each(ctx context.Context, each func(Record) (more bool, err error)) error {
	s.read = Read{}
	if s.Unordered {
		return s.eachUnordered(ctx, each)
	}
	cursors, listed := cursorHeap{reverse: s.Reverse}, listings{}
	defer func() {
		for _, h := range cursors.all {
			h.stop()
		}
	}()
	for i, path := range s.Paths {
		files, err := listed.logFiles(filepath.Clean(path))
		if err != nil {
			return err
		}
		h := &cursor{position: i}
		h.next, h.stop = iter.Pull2(s.records(ctx, files, label(path)))
		cursors.all = append(cursors.all, h)
		if err := h.step(); err != nil {
			return err
		}
		if !h.ok {
			h.stop()
			cursors.all = cursors.all[:len(cursors.all)-1]
		}
	}
	heap.Init(&cursors)
	for cursors.Len() > 0 {
		h := cursors.all[0]
		r := h.record
		if err := h.step(); err != nil {
			return err
		}
		if h.ok {
			heap.Fix(&cursors, 0)
		} else {
			heap.Pop(&cursors)
		}
		if !s.Filter.Pass(r) {
			continue
		}
		if more, err := each(r); err != nil || !more {
			return err
		}
	}
	return nil
}

// eachUnordered is Each for records in any order.
func (s *Stream) eachUnordered(ctx context.Context, each func(Record) (more bool, err error)) error {
	listed := listings{}
	for _, path := range s.Paths {
		files, err := listed.logFiles(filepath.Clean(path))
		if err != nil {
			return err
		}
		for r, err := range s.records(ctx, files, label(path)) {
			if err != nil {
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
	return nil
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
	record   Record
	ok       bool
	position int // of the log, which orders records of the same time
	next     func() (Record, error, bool)
	stop     func()
}

func (h *cursor) step() (err error) {
	h.record, err, h.ok = h.next()
	return err
}

// cursorHeap is a heap of cursors, that with the next record first. Times in RFC 3339 and UTC sort as text.
type cursorHeap struct {
	all     []*cursor
	reverse bool
}

func (c *cursorHeap) Len() int { return len(c.all) }

func (c *cursorHeap) Less(i, j int) bool {
	a, b := c.all[i], c.all[j]
	if a.record.Time == b.record.Time {
		return a.position < b.position
	}
	return a.record.Time < b.record.Time != c.reverse
}

func (c *cursorHeap) Swap(i, j int) { c.all[i], c.all[j] = c.all[j], c.all[i] }

// Push is never called: the cursors are there before the first record.
func (c *cursorHeap) Push(any) {}

// Pop removes the last cursor, whose log has ended.
func (c *cursorHeap) Pop() any {
	last := c.all[len(c.all)-1]
	last.stop()
	c.all = c.all[:len(c.all)-1]
	return last
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
