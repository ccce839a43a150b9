package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
)

const ext = ".jsonl"

// defaultSegment is the default of [Options].Segment.
const defaultSegment = 64 << 20

// segmentDigits is the number of digits in the name of a closed file, enough for maxSeq.
const segmentDigits = 16

// segmentName returns the name of the closed file that ends with record seq.
func segmentName(path string, seq int64) string {
	return fmt.Sprintf("%s-%0*d%s", strings.TrimSuffix(path, ext), segmentDigits, seq, ext)
}

// segmentEnd returns the number of the last record in a closed file of the log at path, from the file's name.
func segmentEnd(path, name string) (seq int64, ok bool) {
	digits, found := strings.CutPrefix(name, strings.TrimSuffix(filepath.Base(path), ext)+"-")
	digits, ends := strings.CutSuffix(digits, ext)
	if !found || !ends || len(digits) != segmentDigits {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	return int64(n), err == nil && 0 < n && n < maxSeq
}

// logFiles returns the existing files of the log at path, see [listings.logFiles].
func logFiles(path string) ([]string, error) { return listings{}.logFiles(path) }

// closedFiles returns the closed files of a log, see [listings.closedFiles].
func closedFiles(path string) ([]string, error) { return listings{}.closedFiles(path) }

// listings have the names of closed files by directory, and by the name of the log without its extension. They read each
// directory once, because it may have thousands of logs.
type listings map[string]map[string][]string

// logFiles returns the existing files of the log at path, the oldest first: closed files, then the current one. If the
// directory cannot be listed, it only returns the current one.
func (l listings) logFiles(path string) ([]string, error) {
	files, err := l.closedFiles(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		files = append(files, path)
	}
	return files, nil
}

// closedFiles returns the closed files of a log, the oldest first.
func (l listings) closedFiles(path string) ([]string, error) {
	dir, name := filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ext)
	if l[dir] == nil {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		l[dir] = map[string][]string{}
		for _, e := range entries { // sorted
			if log, ok := segmentLog(e.Name()); ok && e.Type().IsRegular() {
				l[dir][log] = append(l[dir][log], e.Name())
			}
		}
	}
	var files []string
	for _, file := range l[dir][name] {
		files = append(files, filepath.Join(dir, file))
	}
	return files, nil
}

// segmentLog returns the name, without its extension, of the log that a closed file belongs to.
func segmentLog(name string) (log string, ok bool) {
	end := len(name) - len(ext) - segmentDigits - 1
	if end <= 0 {
		return "", false
	}
	_, ok = segmentEnd(name[:end], name)
	return name[:end], ok
}

// lastSegment returns the state at the end of the last closed file, which the first record of a new file continues.
func lastSegment(path string) (end lastLine, err error) {
	files, err := closedFiles(path)
	if err != nil || len(files) == 0 {
		return lastLine{}, err
	}
	f, err := os.Open(files[len(files)-1])
	if err != nil {
		return lastLine{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err = readEnd(f)
	end.open = false
	return end, err
}

// rotate closes a file of the log and starts a new one that continues the chain. If the file cannot be renamed, for
// example because an administrator created it, it keeps growing.
func (l *Log) rotate(path string, f *os.File, end lastLine) (*os.File, lastLine, error) {
	segment := segmentName(path, end.seq)
	if _, err := os.Lstat(segment); !errors.Is(err, fs.ErrNotExist) || !listable(filepath.Dir(path)) {
		return f, end, nil // without a listing of the directory, readers would miss the closed file
	}
	mode := fileMode(path)
	if err := f.Close(); err != nil {
		return nil, lastLine{}, err
	}
	closed := os.Rename(path, segment) == nil
	next, err := openRegular(path)
	if err != nil || !closed {
		return next, end, err
	}
	if mode != privateMode {
		err = next.Chmod(mode)
	}
	if err = errors.Join(err, l.syncDir(path)); err != nil {
		return nil, lastLine{}, errors.Join(err, next.Close())
	}
	end.open = false
	return next, end, nil
}

func listable(dir string) bool {
	f, err := os.Open(dir)
	return err == nil && f.Close() == nil
}

// syncDir flushes the log's directory to disk if records are flushed.
func (l *Log) syncDir(path string) error {
	if !l.o.Sync && !l.o.Required {
		return nil
	}
	if err := atomicfile.SyncDir(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
