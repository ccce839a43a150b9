//go:build unix

package connect

import (
	"fmt"
	"io/fs"
	"syscall"
)

// others returns why users other than an administrator can replace a file or the contents of a directory, or "".
func others(info fs.FileInfo, admin int) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != admin && s.Uid != 0 {
		return fmt.Sprintf("its owner is the user with the ID %d", s.Uid)
	}
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && (!mode.IsDir() || mode&fs.ModeSticky == 0) {
		return "other users can write to it"
	}
	return ""
}
