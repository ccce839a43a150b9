//go:build linux || darwin

package catalog

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// timesTell says that the times of a directory change whenever an entry comes or goes.
const timesTell = true

// openFlags have a file opened without following a link at the end of its path, and without waiting for a pipe.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// lstat returns how the file at a path looks. It does not follow a link at its end.
func lstat(path string) (fileStat, error) {
	return newFileStat(func(st *unix.Stat_t) error { return unix.Lstat(path, st) })
}

// stat returns how the file at a path looks, after all links.
func stat(path string) (fileStat, error) {
	return newFileStat(func(st *unix.Stat_t) error { return unix.Stat(path, st) })
}

// statOpen returns how an open file looks.
func statOpen(f *os.File) (fileStat, error) {
	return newFileStat(func(st *unix.Stat_t) error { return unix.Fstat(int(f.Fd()), st) })
}

// newFileStat returns how a file looks. It repeats a system call that a signal interrupted.
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
