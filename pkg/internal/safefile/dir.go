package safefile

import (
	"io/fs"
	"math"
	"os"
)

// Dir is a directory as a file system. Links cannot lead out of it, and only regular files and directories can be
// opened. It opens the directory for each call; a [Root] keeps it open.
type Dir string

// Dirs returns file systems for directories, without empty names.
func Dirs(names []string) []fs.FS {
	var dirs []fs.FS
	for _, name := range names {
		if name != "" {
			dirs = append(dirs, Dir(name))
		}
	}
	return dirs
}

// Open opens a regular file or a directory.
func (d Dir) Open(name string) (fs.File, error) {
	return in(d, func(r *Root) (fs.File, error) { return r.Open(name) })
}

// Stat describes the file that a name leads to.
func (d Dir) Stat(name string) (fs.FileInfo, error) {
	return in(d, func(r *Root) (fs.FileInfo, error) { return r.Stat(name) })
}

// Lstat describes a name without following a link.
func (d Dir) Lstat(name string) (fs.FileInfo, error) {
	return in(d, func(r *Root) (fs.FileInfo, error) { return r.Lstat(name) })
}

// ReadLink returns the target of a link.
func (d Dir) ReadLink(name string) (string, error) {
	return in(d, func(r *Root) (string, error) { return r.ReadLink(name) })
}

func (d Dir) openRegular(name string, limit int64) (fs.File, error) {
	return in(d, func(r *Root) (fs.File, error) { return r.openRegular(name, limit) })
}

// in opens the directory and calls a function with it.
func in[T any](d Dir, do func(*Root) (T, error)) (T, error) {
	r, err := OpenRoot(string(d))
	if err != nil {
		var none T
		return none, err
	}
	defer func() { _ = r.Close() }()
	return do(r)
}

// Root is a [Dir] that stays open. It is safe for concurrent use.
type Root struct{ root *os.Root }

// OpenRoot opens a directory.
func OpenRoot(dir string) (*Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Root{root}, nil
}

// Close closes the directory. Open files stay open.
func (r *Root) Close() error { return r.root.Close() }

// Open opens a regular file or a directory.
func (r *Root) Open(name string) (fs.File, error) {
	info, err := r.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if err := Check(name, info, math.MaxInt64); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	return r.root.Open(name)
}

// openRegular is [OpenIn] with one check less.
func (r *Root) openRegular(name string, limit int64) (fs.File, error) {
	info, err := r.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := Check(name, info, limit); err != nil {
		return nil, err
	}
	return r.root.Open(name)
}

// Stat describes the file that a name leads to.
func (r *Root) Stat(name string) (fs.FileInfo, error) {
	if err := valid("stat", name); err != nil {
		return nil, err
	}
	return r.root.Stat(name)
}

// Lstat describes a name without following a link.
func (r *Root) Lstat(name string) (fs.FileInfo, error) {
	if err := valid("lstat", name); err != nil {
		return nil, err
	}
	return r.root.Lstat(name)
}

// ReadLink returns the target of a link.
func (r *Root) ReadLink(name string) (string, error) {
	if err := valid("readlink", name); err != nil {
		return "", err
	}
	return r.root.Readlink(name)
}

func valid(op, name string) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}
