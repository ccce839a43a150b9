package store

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// directory is an open directory. It accesses its entries by single names and follows no links. That needs one system
// call, while a path costs one for each component.
type directory struct {
	fd   int
	path string // for errors
}

// openDirectory opens a directory by its path.
func openDirectory(path string) (*directory, error) {
	fd, err := openat(unix.AT_FDCWD, path, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &directory{fd: fd, path: path}, nil
}

// sub opens a subdirectory.
func (f *directory) sub(name string) (*directory, error) {
	fd, err := openat(f.fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, f.pathError("open", name, err)
	}
	return &directory{fd: fd, path: filepath.Join(f.path, name)}, nil
}

func (f *directory) mkdir(name string) error {
	err := retryInterrupted(func() error { return unix.Mkdirat(f.fd, name, 0o755) })
	return f.pathError("mkdir", name, err)
}

// open opens a file for reading. It does not block on a pipe.
func (f *directory) open(name string) (file, error) {
	fd, err := openat(f.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	return file{fd: fd, dir: f, name: name}, f.pathError("open", name, err)
}

// create creates a new file.
func (f *directory) create(name string, mode fs.FileMode) (file, error) {
	fd, err := openat(f.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, uint32(mode.Perm()))
	return file{fd: fd, dir: f, name: name}, f.pathError("create", name, err)
}

// link creates a hard link to the file of the same name in another directory.
func (f *directory) link(source *directory, name string) error {
	return f.pathError("link", name, unix.Linkat(source.fd, name, f.fd, name, 0))
}

// mode returns the type of an entry, without its permissions.
func (f *directory) mode(name string) (fs.FileMode, error) {
	var stat unix.Stat_t
	if err := unix.Fstatat(f.fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, f.pathError("stat", name, err)
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

// replaced reports whether the path of the directory no longer leads to it.
func (f *directory) replaced() bool { return !f.isAt(f.path) }

// isAt reports whether a path leads to this directory.
func (f *directory) isAt(path string) bool {
	var own, other unix.Stat_t
	if unix.Fstat(f.fd, &own) != nil || unix.Lstat(path, &other) != nil {
		return false
	}
	return own.Dev == other.Dev && own.Ino == other.Ino
}

func (f *directory) close() { _ = unix.Close(f.fd) } // nothing is written through it

func (f *directory) pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: filepath.Join(f.path, name), Err: err}
}

// file is an open file. It bypasses the poller of the runtime, because the store opens thousands of small files.
type file struct {
	fd   int
	dir  *directory
	name string
}

func (f file) Read(p []byte) (n int, err error) {
	err = retryInterrupted(func() error { n, err = unix.Read(f.fd, p); return err })
	switch {
	case err != nil:
		return 0, f.dir.pathError("read", f.name, err)
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f file) Write(p []byte) (n int, err error) {
	for n < len(p) {
		var m int
		err := retryInterrupted(func() error { m, err = unix.Write(f.fd, p[n:]); return err })
		if err != nil {
			return n, f.dir.pathError("write", f.name, err)
		}
		n += m
	}
	return n, nil
}

// closeRead closes a file after reading.
func (f file) closeRead() { _ = unix.Close(f.fd) }

func (f file) Close() error { return f.dir.pathError("close", f.name, unix.Close(f.fd)) }

func (f file) info() (fileInfo, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(f.fd, &stat); err != nil {
		return fileInfo{}, f.dir.pathError("stat", f.name, err)
	}
	return fileInfo{
		regular:    stat.Mode&unix.S_IFMT == unix.S_IFREG,
		executable: stat.Mode&0o100 != 0,
		size:       stat.Size,
		modified:   time.Unix(stat.Mtim.Unix()),
	}, nil
}

// cloneOf makes f share the blocks of src, and reports whether the file system did so.
func (f file) cloneOf(src file) bool { return unix.IoctlFileClone(f.fd, src.fd) == nil }

func openat(dir int, name string, flags int, mode uint32) (fd int, err error) {
	err = retryInterrupted(func() error { fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, mode); return err })
	return fd, err
}

// retryInterrupted repeats a system call that a signal interrupts.
func retryInterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
