package catalog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// stamp is what stat reports about a version of a file or directory.
type stamp struct {
	size     int64
	modified int64 // modification time in nanoseconds
	changed  int64 // time of the last inode change in nanoseconds; 0 if the system has none
	inode    uint64
	device   uint64
}

// fileStat is a stamp with the file's type.
type fileStat struct {
	stamp
	mode fs.FileMode // type bits only
}

// A later change is certain to change a stamp if the file was unmodified for this long when it was read. File system
// clocks tick every 10 ms or less on Linux, and every second on systems without fractions.
const (
	tick       = 50 * time.Millisecond
	coarseTick = 2100 * time.Millisecond
)

// stable reports whether every change after now, in nanoseconds, changes the stamp. Callers take now before they look
// at the file.
func (s stamp) stable(now int64) bool {
	last := s.changed
	if last == 0 {
		last = s.modified
	}
	margin := tick
	if last%int64(time.Second) == 0 {
		margin = coarseTick
	}
	return last+int64(margin) < now
}

// openFile opens a regular file and returns its stat. It does not follow a link at the end of the path, nor wait for a
// pipe.
func openFile(path string) (*os.File, fileStat, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, fileStat{}, err
	}
	l, err := statOpen(f)
	if err == nil && l.mode != 0 {
		err = errors.New("SKILL.md is not a regular file")
	}
	if err != nil {
		_ = f.Close()
		return nil, fileStat{}, err
	}
	return f, l, nil
}

// notExist reports whether an error means that there is no such file.
func notExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// sameCase reports whether a directory has an entry of exactly this name. File systems that ignore case find others,
// too.
func sameCase(dir, name string) bool {
	if runtime.GOOS == "linux" {
		return true
	}
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(maxEntries)
	return (err == nil || errors.Is(err, io.EOF)) && slices.Contains(names, name)
}
