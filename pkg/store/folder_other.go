//go:build !linux

package store

import (
	"io/fs"
	"os"
	"path/filepath"
)

// folder is an open directory, whose entries are named by single components.
type folder struct {
	root *os.Root
	path string
}

func openFolder(path string) (*folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &folder{root: root, path: path}, nil
}

func (f *folder) sub(name string) (*folder, error) {
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &folder{root: root, path: filepath.Join(f.path, name)}, nil
}

func (f *folder) mkdir(name string) error { return f.root.Mkdir(name, 0o755) }

func (f *folder) open(name string) (file, error) {
	opened, err := f.root.Open(name)
	return file{opened}, err
}

func (f *folder) create(name string, mode fs.FileMode) (file, error) {
	opened, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	return file{opened}, err
}

func (f *folder) link(from *folder, name string) error {
	return os.Link(filepath.Join(from.path, name), filepath.Join(f.path, name))
}

func (f *folder) mode(name string) (fs.FileMode, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return 0, err
	}
	return info.Mode().Type(), nil
}

// moved reports whether something else, or nothing, is at the path that the directory was opened by.
func (f *folder) moved() bool { return !f.isDir(f.path) }

// isAt reports whether the directory is at a path.
func (f *folder) isDir(path string) bool {
	here, err := f.root.Stat(".")
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(here, there)
}

func (f *folder) close() { f.root.Close() }

// file is an open file.
type file struct{ *os.File }

// drop closes a file that was read.
func (f file) drop() { f.Close() }

// look returns what the system knows of the file.
func (f file) facts() (facts, error) {
	info, err := f.Stat()
	if err != nil {
		return facts{}, err
	}
	return facts{
		regular: info.Mode().IsRegular(), executable: info.Mode()&0o100 != 0, size: info.Size(),
		modified: info.ModTime(),
	}, nil
}

// cloneOf reports that blocks are not shared here.
func (f file) cloneOf(file) bool { return false }
