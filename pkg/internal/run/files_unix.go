//go:build unix

package run

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// ownFiles marks this process's open files, except the three standard streams, so that commands do not inherit them.
func ownFiles() {
	if closeOnExec() {
		return
	}
	entries, _ := os.ReadDir("/dev/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
