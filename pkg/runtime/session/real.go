package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// maxLinks is how many links of one path are followed. Systems follow no more than 40.
const maxLinks = 100

// realPath returns where an absolute path leads once links are followed as the system does: step by step, so that a ..
// after a link is the directory above what it leads to. What does not exist is below what does, also where a link leads
// there: whoever writes to the path creates it. It returns "" where it cannot be told.
func realPath(path string) string {
	root := top(path)
	if root == "" {
		return ""
	}
	at, steps := root, split(path[len(root):])
	for links := 0; len(steps) > 0; {
		step := steps[0]
		steps = steps[1:]
		switch step {
		case ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, step)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			at = next
			continue
		case err != nil:
			return ""
		case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0:
			at = next
			continue
		}
		to, err := os.Readlink(next)
		switch {
		case err != nil && info.Mode()&fs.ModeSymlink == 0:
			at = next // on Windows there is more than links that is neither a file nor a directory
			continue
		case err != nil:
			return ""
		}
		if links++; links > maxLinks {
			return ""
		}
		if root := top(to); root != "" {
			at, to = root, to[len(root):]
		} else if strings.HasPrefix(filepath.ToSlash(to), "/") {
			at = top(at) // of this drive
		}
		steps = append(split(to), steps...)
	}
	return scope.Resolved(at)
}

// top returns the root that an absolute path begins with, "" for any other path.
func top(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	return path[:len(filepath.VolumeName(path))+1]
}

// split returns the steps of a path.
func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}
