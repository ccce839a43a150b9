package audit

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// Follow calls each with the records that are appended to the log at path, until the context ends, which is not an
// error, or each returns an error. It reads the log on each tick and follows it into new files. It skips lines that are
// not records.
func Follow(ctx context.Context, path string, tick <-chan time.Time, each func(Record) error) error {
	path = filepath.Clean(path)
	last, err := recordsAfter(path, nil)
	if err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
		added, err := recordsAfter(path, &last[0])
		if err != nil {
			return err
		}
		for _, r := range slices.Backward(added) {
			last[0] = r
			if err := each(r); err != nil {
				return err
			}
		}
	}
}

// recordsAfter returns the records after last, the newest first. If last is nil, it returns the newest record, or an
// empty one if there is none. If the log was replaced by another, it returns the records of the new file.
func recordsAfter(path string, last *Record) ([]Record, error) {
	files, err := logFiles(path)
	if err != nil {
		return nil, err
	}
	for { // try again if a file was closed after listing, because its records would be missed
		added, err := recordsIn(files, last)
		if err != nil {
			return nil, err
		}
		now, err := logFiles(path)
		if err != nil || slices.Equal(files, now) {
			return added, err
		}
		files = now
	}
}

// recordsIn returns the records of these files after last, the newest first.
func recordsIn(files []string, last *Record) (added []Record, err error) {
	for _, file := range slices.Backward(files) {
		replaced := false
		for line, err := range lines(file, true) {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, nil // the file is being closed: the next tick finds it
			}
			if err != nil {
				return nil, err
			}
			r, ok := parse(line)
			switch {
			case !ok:
				continue
			case last == nil:
				return []Record{r}, nil
			case len(added) == 0:
				replaced = r.Seq < last.Seq
			}
			if !replaced && r.Seq <= last.Seq {
				return added, nil
			}
			added = append(added, r)
		}
		if replaced {
			return added, nil
		}
	}
	if last == nil {
		added = []Record{{}}
	}
	return added, nil
}
