//go:build unix

package enterprise

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the user ID of a file's owner, -1 if it is unknown.
func ownerOf(info fs.FileInfo) int {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(sys.Uid)
	}
	return -1
}

// ownersCount reports whether files have owners with numbers.
const ownersCount = true
