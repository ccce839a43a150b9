//go:build !linux && !darwin

package catalog

import (
	"io/fs"
	"os"
)

// timesTell says that the times of a directory change whenever an entry comes or goes: here that is not sure, so that
// directories are listed every time.
const timesTell = false

// openFlags are none: a link is found by [lstat] before a file is opened.
const openFlags = 0

// lstat returns how the file at a path looks. It does not follow a link at its end.
func lstat(path string) (fileStat, error) { return newFileStat(os.Lstat(path)) }

// stat returns how the file at a path looks, after all links.
func stat(path string) (fileStat, error) { return newFileStat(os.Stat(path)) }

// statOpen returns how an open file looks.
func statOpen(f *os.File) (fileStat, error) { return newFileStat(f.Stat()) }

func newFileStat(info fs.FileInfo, err error) (fileStat, error) {
	if err != nil {
		return fileStat{}, err
	}
	return fileStat{stamp: stamp{size: info.Size(), modified: info.ModTime().UnixNano()}, mode: info.Mode().Type()}, nil
}
