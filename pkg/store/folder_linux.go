package store

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// folder is an open directory. Its entries are named by single components, which no link is followed for, so that
// whatever is below it is reached without resolving a path: one system call where a path costs one a component.
type folder struct {
	fd   int
	path string // for messages
}

// openFolder opens a directory by its path.
func openFolder(path string) (*folder, error) {
	fd, err := openat(unix.AT_FDCWD, path, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &folder{fd: fd, path: path}, nil
}

// sub opens a directory in f.
func (f *folder) sub(name string) (*folder, error) {
	fd, err := openat(f.fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, f.fault("open", name, err)
	}
	return &folder{fd: fd, path: filepath.Join(f.path, name)}, nil
}

func (f *folder) mkdir(name string) error {
	err := again(func() error { return unix.Mkdirat(f.fd, name, 0o755) })
	return f.fault("mkdir", name, err)
}

// open opens a file for reading. It does not wait for the other end of what turns out to be a pipe.
func (f *folder) open(name string) (file, error) {
	fd, err := openat(f.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	return file{fd: fd, dir: f, name: name}, f.fault("open", name, err)
}

// create makes a new file.
func (f *folder) create(name string, mode fs.FileMode) (file, error) {
	fd, err := openat(f.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, uint32(mode.Perm()))
	return file{fd: fd, dir: f, name: name}, f.fault("create", name, err)
}

// link makes a file of another directory appear in f under the same name.
func (f *folder) link(source *folder, name string) error {
	return f.fault("link", name, unix.Linkat(source.fd, name, f.fd, name, 0))
}

// mode returns the type of what name is, without its permissions.
func (f *folder) mode(name string) (fs.FileMode, error) {
	var stat unix.Stat_t
	if err := unix.Fstatat(f.fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, f.fault("stat", name, err)
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return fs.ModeDir, nil
	case unix.S_IFREG:
		return 0, nil
	case unix.S_IFLNK:
		return fs.ModeSymlink, nil
	}
	return fs.ModeIrregular, nil
}

// moved reports whether something else, or nothing, is at the path that the directory was opened by.
func (f *folder) moved() bool { return !f.isDir(f.path) }

// isDir reports whether a path leads to this directory.
func (f *folder) isDir(path string) bool {
	var own, other unix.Stat_t
	if unix.Fstat(f.fd, &own) != nil || unix.Lstat(path, &other) != nil {
		return false
	}
	return own.Dev == other.Dev && own.Ino == other.Ino
}

func (f *folder) close() { _ = unix.Close(f.fd) } // nothing is written through it

func (f *folder) fault(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: filepath.Join(f.path, name), Err: err}
}

// file is an open file. Small ones are opened and closed by the thousand: the runtime's poller is left out.
type file struct {
	fd   int
	dir  *folder
	name string
}

func (f file) Read(p []byte) (n int, err error) {
	err = again(func() error { n, err = unix.Read(f.fd, p); return err })
	switch {
	case err != nil:
		return 0, f.dir.fault("read", f.name, err)
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f file) Write(p []byte) (n int, err error) {
	for n < len(p) {
		var m int
		err := again(func() error { m, err = unix.Write(f.fd, p[n:]); return err })
		if err != nil {
			return n, f.dir.fault("write", f.name, err)
		}
		n += m
	}
	return n, nil
}

// drop closes a file that was read.
func (f file) drop() { _ = unix.Close(f.fd) }

func (f file) Close() error { return f.dir.fault("close", f.name, unix.Close(f.fd)) }

// facts returns what the system knows of the file.
func (f file) facts() (facts, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(f.fd, &stat); err != nil {
		return facts{}, f.dir.fault("stat", f.name, err)
	}
	return facts{
		regular:    stat.Mode&unix.S_IFMT == unix.S_IFREG,
		executable: stat.Mode&0o100 != 0,
		size:       stat.Size,
		modified:   time.Unix(stat.Mtim.Unix()),
	}, nil
}

// cloneOf makes f share the blocks of src, and reports whether the file system could do it.
func (f file) cloneOf(src file) bool { return unix.IoctlFileClone(f.fd, src.fd) == nil }

func openat(dir int, name string, flags int, mode uint32) (fd int, err error) {
	err = again(func() error { fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, mode); return err })
	return fd, err
}

// again repeats a system call that a signal interrupts.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
