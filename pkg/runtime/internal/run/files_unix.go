//go:build unix

package run

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// ownFiles has no command inherit what this process has open besides its three streams, as files that whoever started
// it left open.
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
