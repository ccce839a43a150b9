package audit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Follow hands on what is appended to the log at path from now on, until the context ends, which is no error, or the
// function returns one. It looks whenever it gets something from tick; it goes on where the file is closed and another
// begun. Lines that are no records are passed over.
func Follow(ctx context.Context, path string, tick <-chan time.Time, each func(Record) error) error {
	path = filepath.Clean(path)
	t := &follower{path: path, each: each}
	defer t.close()
	if err := t.begin(); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
			if err := t.look(); err != nil {
				return err
			}
		}
	}
}

// follower is a log that is followed.
type follower struct {
	path string
	each func(Record) error

	f    *os.File // nil where there is none yet
	rest []byte   // of a line that has no end yet
	skip bool     // that line is too long
	seq  int64    // of the last record
}

// begin goes to the end of the log.
func (t *follower) begin() error {
	f, size, err := openLog(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t.f = f
	end, err := readEnd(f)
	if err == nil && end == (tail{}) {
		end, err = lastSegment(t.path)
	}
	if err != nil {
		return err
	}
	t.seq = end.seq
	_, err = f.Seek(size, io.SeekStart)
	return err
}

// look hands on what is new: the rest of the file that was open, the files that were begun and closed since, and the
// one that is written to now.
func (t *follower) look() error {
	if err := t.drain(); err != nil {
		return err
	}
	now, err := os.Stat(t.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) { // between two files
			return nil
		}
		return err
	}
	if t.f != nil {
		is, err := t.f.Stat()
		if err != nil || os.SameFile(is, now) && now.Size() >= is.Size() && !t.cut(is) {
			return err
		}
		if err := t.drain(); err != nil { // what was written between the two looks
			return err
		}
	}
	files, err := closed(t.path)
	if err != nil {
		return err
	}
	for _, file := range append(files, t.path) {
		if last, ok := segmentEnd(t.path, filepath.Base(file)); ok && last <= t.seq {
			continue
		}
		if err := t.turn(file); err != nil {
			return err
		}
	}
	return nil
}

// cut reports whether the file has become shorter than what was read of it.
func (t *follower) cut(is fs.FileInfo) bool {
	at, err := t.f.Seek(0, io.SeekCurrent)
	return err == nil && is.Size() < at
}

// turn reads another file from its beginning.
func (t *follower) turn(file string) error {
	f, _, err := openLog(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t.close()
	t.f, t.rest, t.skip = f, nil, false
	return t.drain()
}

func (t *follower) close() {
	if t.f != nil {
		_ = t.f.Close() // it was only read
	}
}

// drain hands on the lines of the open file that have an end.
func (t *follower) drain() error {
	if t.f == nil {
		return nil
	}
	block := make([]byte, maxLine)
	for {
		n, err := t.f.Read(block)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := t.take(block[:n]); err != nil {
			return err
		}
	}
}

// take takes what was read.
func (t *follower) take(part []byte) error {
	for {
		line, after, ends := bytes.Cut(part, []byte("\n"))
		if t.skip = t.skip || len(t.rest)+len(line) > maxLine; t.skip {
			t.rest = t.rest[:0]
		} else {
			t.rest = append(t.rest, line...)
		}
		if !ends {
			return nil
		}
		r, ok := parse(t.rest)
		t.rest, t.skip, part = t.rest[:0], false, after
		if !ok {
			continue
		}
		t.seq = r.Seq
		if err := t.each(r); err != nil {
			return err
		}
	}
}
