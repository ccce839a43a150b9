//go:build linux || darwin

package catalog

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// timesTell means that a directory's times change whenever an entry is added or removed.
const timesTell = true

// openFlags make open fail on a link at the end of the path, and not wait for a pipe.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// lstat returns the stat of the file at path, not following a link at its end.
func lstat(path string) (fileStat, error) {
	return newFileStat(func(st *unix.Stat_t) error { return unix.Lstat(path, st) })
}

// stat returns the stat of the file at path, following links.
func stat(path string) (fileStat, error) {
	return newFileStat(func(st *unix.Stat_t) error { return unix.Stat(path, st) })
}

func statOpen(f *os.File) (fileStat, error) {
	return newFileStat(func(st *unix.Stat_t) error { return unix.Fstat(int(f.Fd()), st) })
}

// newFileStat repeats a system call that a signal interrupted.
func newFileStat(call func(*unix.Stat_t) error) (fileStat, error) {
	var st unix.Stat_t
	err := call(&st)
	for errors.Is(err, unix.EINTR) {
		err = call(&st)
	}
	if err != nil {
		return fileStat{}, err
	}
	l := fileStat{stamp: stamp{
		size: st.Size, modified: unix.TimespecToNsec(st.Mtim), changed: unix.TimespecToNsec(st.Ctim),
		inode: st.Ino, device: uint64(st.Dev), //nolint:unconvert // its type differs between systems
	}}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		l.mode = fs.ModeDir
	case unix.S_IFLNK:
		l.mode = fs.ModeSymlink
	default:
		l.mode = fs.ModeIrregular
	}
	return l, nil
}
