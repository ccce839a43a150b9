//go:build !linux && !darwin

package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// timesTell says that the times of a directory change whenever an entry comes or goes: here that is not sure, so that
// directories are listed every time.
const timesTell = false

// folder is a directory: what is below it is asked for by its path from there.
type folder struct{ dir string }

func openFolder(dir string) (*folder, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a directory")}
	}
	return &folder{dir}, err
}

func (*folder) close() {}

// look returns how the entry at a path looks. Of links on the way the last is not followed.
func (f *folder) look(path string) (look, error) {
	info, err := os.Lstat(filepath.Join(f.dir, path))
	if err != nil {
		return look{}, err
	}
	return lookOf(info), nil
}

func lookOf(info fs.FileInfo) look {
	return look{stamp: stamp{size: info.Size(), modified: info.ModTime().UnixNano()}, mode: info.Mode().Type()}
}

// open opens a file, and returns how it looks. It does not follow a link at the end of the path.
func (f *folder) open(path string) (*os.File, look, error) {
	before, err := f.look(path)
	if err != nil || before.mode != 0 {
		return nil, before, err
	}
	file, err := os.Open(filepath.Join(f.dir, path))
	if err != nil {
		return nil, look{}, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // it was only read
		return nil, look{}, err
	}
	return file, lookOf(info), nil
}

// exactly reports whether the entry at a path has the name that the path ends with, in this case. A file system that
// ignores case would have found it under another.
func (f *folder) exactly(dir, name string) bool { return listed(f.dir, dir, name) }

// notExist reports whether an error says that there is nothing.
func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// lookAt returns how the file at a path looks, after all links.
func lookAt(path string) (look, error) {
	info, err := os.Stat(path)
	if err != nil {
		return look{}, err
	}
	return lookOf(info), nil
}
