package txn

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lockHolder returns the id of the process that holds the kernel's lock on a file, or 0 if it is unknown
// (proc_locks(5)).
func lockHolder(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	data, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	inode := fmt.Sprintf(":%d", stat.Ino)
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line) // number, kind, mode, access, process, major:minor:inode, and a range
		if len(fields) < 6 || fields[1] != "FLOCK" || !strings.HasSuffix(fields[5], inode) {
			continue
		}
		if pid, err := strconv.Atoi(fields[4]); err == nil {
			return pid
		}
	}
	return 0
}
