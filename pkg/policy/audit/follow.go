package audit

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// Follow hands on the records that are appended to the log at path from now on, until the context ends, which is not an
// error, or the function returns one. It looks at the log whenever it gets something from tick, and follows it into the
// next file. Lines that are not records are skipped.
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

// recordsAfter returns the records that follow one, the newest first; for nil, only the newest record, with the number
// 0 if there is none. If the log was replaced by another one, it returns what is in the new file.
func recordsAfter(path string, last *Record) ([]Record, error) {
	files, err := logFiles(path)
	if err != nil {
		return nil, err
	}
	for { // a file that was closed in the meantime is not in the list, and its records would be missed
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

// recordsIn returns the records of these files that follow one, the newest first.
func recordsIn(files []string, last *Record) (added []Record, err error) {
	for _, file := range slices.Backward(files) {
		replaced := false
		for line, err := range lines(file, true) {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, nil // it is being closed: the next look finds it
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
