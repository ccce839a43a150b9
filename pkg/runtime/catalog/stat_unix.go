//go:build linux || darwin

package catalog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// timesTell says that the times of a directory change whenever an entry comes or goes.
const timesTell = true

// folder is a directory that is open: what is below it is asked for by its path from there.
type folder struct {
	dir string
	fd  int
}

func openFolder(dir string) (*folder, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return &folder{dir, fd}, nil
}

func (f *folder) close() { _ = unix.Close(f.fd) }

// look returns how the entry at a path looks. Of links on the way the last is not followed.
func (f *folder) look(path string) (look, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(f.fd, path, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return look{}, err
	}
	return lookOf(&st), nil
}

// again repeats a system call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func lookOf(st *unix.Stat_t) look {
	l := look{stamp: stamp{
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
	return l
}

// open opens a file, and returns how it looks. It neither follows a link at the end of the path nor waits for a pipe.
func (f *folder) open(path string) (*file, look, error) {
	fd := -1
	err := again(func() (err error) {
		fd, err = unix.Openat(f.fd, path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, look{}, err
	}
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(fd, &st) }); err != nil {
		_ = unix.Close(fd)
		return nil, look{}, err
	}
	return &file{fd}, lookOf(&st), nil
}

// file is an open file.
type file struct{ fd int }

func (f *file) Close() error { return unix.Close(f.fd) }

func (f *file) Read(p []byte) (n int, err error) {
	err = again(func() (err error) {
		n, err = unix.Read(f.fd, p)
		return err
	})
	if n = max(n, 0); n == 0 && err == nil && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

// exactly reports whether the entry at a path has the name that the path ends with, in this case. A file system that
// ignores case would have found it under another.
func (f *folder) exactly(dir, name string) bool {
	return runtime.GOOS == "linux" || listed(f.dir, dir, name)
}

// notExist reports whether an error says that there is nothing.
func notExist(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, os.ErrNotExist)
}

// lookAt returns how the file at a path looks, after all links.
func lookAt(path string) (look, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Stat(path, &st) }); err != nil {
		return look{}, err
	}
	return lookOf(&st), nil
}
