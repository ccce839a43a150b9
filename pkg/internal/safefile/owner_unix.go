//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// Mine reports whether a file belongs to the user that this process acts as.
func Mine(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(s.Uid) == int64(os.Geteuid())
}
