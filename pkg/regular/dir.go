package regular

import (
	"io/fs"
	"math"
	"os"
)

// Dir is a directory as a file system that no link leads out of, and of which only regular files and directories are
// opened.
type Dir string

// Open opens a regular file or a directory.
func (d Dir) Open(name string) (fs.File, error) {
	root, err := d.root("open", name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if err := Check(name, info, math.MaxInt64); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	return root.Open(name)
}

// Stat describes what a name leads to.
func (d Dir) Stat(name string) (fs.FileInfo, error) {
	root, err := d.root("stat", name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.Stat(name)
}

func (d Dir) root(op, name string) (*os.Root, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return os.OpenRoot(string(d))
}
