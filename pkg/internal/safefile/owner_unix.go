//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// Mine reports whether the effective user of this process owns a file.
func Mine(info fs.FileInfo) bool { return IsOwnedBy(info, os.Geteuid()) }

// IsOwnedBy reports whether a user owns a file.
func IsOwnedBy(info fs.FileInfo, user int) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(s.Uid) == int64(user)
}
