package doctor

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// clones reports whether files in a directory can share their blocks, by trying it.
func clones(dir string) bool {
	a, err := os.CreateTemp(dir, ".skillpm-")
	if err != nil {
		return false
	}
	defer func() { _ = errors.Join(a.Close(), os.Remove(a.Name())) }()
	b, err := os.CreateTemp(dir, ".skillpm-")
	if err != nil {
		return false
	}
	defer func() { _ = errors.Join(b.Close(), os.Remove(b.Name())) }()
	if _, err := a.Write(make([]byte, 4096)); err != nil {
		return false
	}
	return unix.IoctlFileClone(int(b.Fd()), int(a.Fd())) == nil
}
