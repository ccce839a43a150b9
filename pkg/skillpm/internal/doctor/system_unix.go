//go:build unix

package doctor

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// writable reports whether this user may create files in a directory.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// freeSpace returns how many bytes this user may still write on the file system of a directory.
func freeSpace(dir string) (free uint64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Bsize <= 0 {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true //nolint:unconvert // their types differ between systems
}

// sameDevice reports whether two files are on one file system.
func sameDevice(a, b string) bool {
	x, okX := device(a)
	y, okY := device(b)
	return okX && okY && x == y
}

func device(path string) (any, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, false
	}
	return s.Dev, true
}
