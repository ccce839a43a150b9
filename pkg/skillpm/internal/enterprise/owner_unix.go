//go:build unix

package enterprise

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the user id of whom a file belongs to, -1 where that is not known.
func ownerOf(info fs.FileInfo) int {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(sys.Uid)
	}
	return -1
}

// ownersCount says that files belong to users by number.
const ownersCount = true
