//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// Mine reports whether the effective user of this process owns a file.
func Mine(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(s.Uid) == int64(os.Geteuid())
}
