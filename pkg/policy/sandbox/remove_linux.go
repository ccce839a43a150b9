package sandbox

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// remove removes a directory, also what its owner has locked in it, and what is nested deeper than any path is long.
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

// flattener removes what is in a directory level by level: what lies in a directory there is moved up before it is
// removed.
type flattener struct {
	top   int
	moved int
}

// round removes, or moves up, what there is now, and reports whether it could.
func (f *flattener) round(dir string) (some bool) {
	top, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer top.Close()
	listsAddress, _ := top.Readdirnames(-1) // some are better than none
	for _, name := range listsAddress {
		if unix.Unlinkat(f.top, name, 0) == nil || f.level(name) {
			some = true
		}
	}
	return some
}

// level removes a directory after it has moved up what is in it.
func (f *flattener) level(name string) bool {
	_ = unix.Fchmodat(f.top, name, 0o700, 0)
	fd, err := unix.Openat(f.top, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	listsAddress, _ := dir.Readdirnames(-1) // some are better than none
	for _, child := range listsAddress {
		if unix.Unlinkat(fd, child, 0) == nil {
			continue
		}
		_ = unix.Fchmodat(fd, child, 0o700, 0) // a directory that can't be written to can't be moved
		f.moved++
		_ = unix.Renameat(fd, child, f.top, strconv.Itoa(f.moved))
	}
	return unix.Unlinkat(f.top, name, unix.AT_REMOVEDIR) == nil
}
