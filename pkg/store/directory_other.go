//go:build !linux

package store

import (
	"io/fs"
	"os"
	"path/filepath"
)

// directory is an open directory. It accesses its entries by single names.
type directory struct {
	root *os.Root
	path string
}

func openDirectory(path string) (*directory, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &directory{root: root, path: path}, nil
}

func (f *directory) sub(name string) (*directory, error) {
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &directory{root: root, path: filepath.Join(f.path, name)}, nil
}

func (f *directory) mkdir(name string) error { return f.root.Mkdir(name, 0o755) }

func (f *directory) open(name string) (file, error) {
	opened, err := f.root.Open(name)
	return file{opened}, err
}

func (f *directory) create(name string, mode fs.FileMode) (file, error) {
	opened, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	return file{opened}, err
}

func (f *directory) link(from *directory, name string) error {
	return os.Link(filepath.Join(from.path, name), filepath.Join(f.path, name))
}

func (f *directory) mode(name string) (fs.FileMode, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return 0, err
	}
	return info.Mode().Type(), nil
}

// replaced reports whether the path of the directory no longer leads to it.
func (f *directory) replaced() bool { return !f.isAt(f.path) }

// isAt reports whether a path leads to this directory.
func (f *directory) isAt(path string) bool {
	own, err := f.root.Stat(".")
	if err != nil {
		return false
	}
	other, err := os.Lstat(path)
	return err == nil && os.SameFile(own, other)
}

func (f *directory) close() { f.root.Close() }

// file is an open file.
type file struct{ *os.File }

// closeRead closes a file after reading.
func (f file) closeRead() { f.Close() }

func (f file) info() (fileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return fileInfo{}, err
	}
	return fileInfo{
		regular: info.Mode().IsRegular(), executable: info.Mode()&0o100 != 0, size: info.Size(),
		modified: info.ModTime(),
	}, nil
}

// cloneOf does nothing and returns false.
func (f file) cloneOf(file) bool { return false }
