package sandbox

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// remove removes a directory tree, even if it has unreadable directories or paths beyond the system's maximum length.
func remove(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	top, err := os.Open(dir)
	if err != nil {
		return
	}
	f := flattener{top: int(top.Fd())}
	for f.round(dir) {
	}
	_ = top.Close()
	_ = os.RemoveAll(dir)
}

// flattener removes a directory tree level by level: it moves the entries of each directory up before it removes the
// directory.
type flattener struct {
	top   int
	moved int
}

// round removes or moves up the current entries, and reports whether it made progress.
func (f *flattener) round(dir string) (some bool) {
	top, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer top.Close()
	names, _ := top.Readdirnames(-1) // an incomplete list is better than none
	for _, name := range names {
		if unix.Unlinkat(f.top, name, 0) == nil || f.level(name) {
			some = true
		}
	}
	return some
}

// level moves up the entries of a directory and removes it.
func (f *flattener) level(name string) bool {
	_ = unix.Fchmodat(f.top, name, 0o700, 0)
	fd, err := unix.Openat(f.top, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // an incomplete list is better than none
	for _, child := range names {
		if unix.Unlinkat(fd, child, 0) == nil {
			continue
		}
		_ = unix.Fchmodat(fd, child, 0o700, 0) // a directory must be writable to be moved
		f.moved++
		_ = unix.Renameat(fd, child, f.top, strconv.Itoa(f.moved))
	}
	return unix.Unlinkat(f.top, name, unix.AT_REMOVEDIR) == nil
}
