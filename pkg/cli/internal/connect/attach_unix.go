//go:build unix

package connect

import (
	"fmt"
	"io/fs"
	"syscall"
)

// others says why others than an administrator may replace a file, or what is in a directory; "" if they may not.
func others(info fs.FileInfo, admin int) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != admin && s.Uid != 0 {
		return fmt.Sprintf("belongs to user %d", s.Uid)
	}
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && (!mode.IsDir() || mode&fs.ModeSticky == 0) {
		return "can be written by others"
	}
	return ""
}
