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

// stamp is how a file or directory looks to stat.
type stamp struct {
	size     int64
	modified int64 // in nanoseconds
	changed  int64 // likewise, the time of the inode; 0 where the system does not say
	inode    uint64
	device   uint64
}

// fileStat is a stamp and what it is of.
type fileStat struct {
	stamp
	mode fs.FileMode // its type only
}

// How long before a reading a file must have been left alone for its stamp to tell a later change: the clock of the
// file system goes in ticks, of 10 ms at most on Linux, and of whole seconds on systems that keep no fractions.
const (
	tick       = 50 * time.Millisecond
	coarseTick = 2100 * time.Millisecond
)

// stable reports whether what changes after now, which is in nanoseconds, is sure to get another stamp. The moment
// must be before the file was looked at.
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

// openFile opens a regular file, and returns how it looks. It neither follows a link at the end of the path nor waits
// for a pipe.
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
		_ = f.Close() // it was only read
		return nil, fileStat{}, err
	}
	return f, l, nil
}

// notExist reports whether an error says that there is nothing.
func notExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// sameCase reports whether a directory has an entry of exactly this name, where there is one: a file system that ignores
// case finds it under another.
func sameCase(dir, name string) bool {
	if runtime.GOOS == "linux" {
		return true
	}
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	names, err := f.Readdirnames(maxEntries)
	return (err == nil || errors.Is(err, io.EOF)) && slices.Contains(names, name)
}
