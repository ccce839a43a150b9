//go:build !linux && !darwin

package catalog

import (
	"io/fs"
	"os"
)

// timesTell is false because directory times may not show every added or removed entry here. Directories are always
// listed.
const timesTell = false

// openFlags is 0: openFile calls [lstat] first to find links.
const openFlags = 0

// lstat returns the stat of the file at path, not following a link at its end.
func lstat(path string) (fileStat, error) { return newFileStat(os.Lstat(path)) }

// stat returns the stat of the file at path, following links.
func stat(path string) (fileStat, error) { return newFileStat(os.Stat(path)) }

func statOpen(f *os.File) (fileStat, error) { return newFileStat(f.Stat()) }

func newFileStat(info fs.FileInfo, err error) (fileStat, error) {
	if err != nil {
		return fileStat{}, err
	}
	return fileStat{stamp: stamp{size: info.Size(), modified: info.ModTime().UnixNano()}, mode: info.Mode().Type()}, nil
}
