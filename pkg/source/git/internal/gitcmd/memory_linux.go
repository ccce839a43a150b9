package gitcmd

import "golang.org/x/sys/unix"

// limitMemory bounds what a process, and each that it starts from now on, may hold in memory, except for files. A
// kernel that does not allow that leaves it as it is.
func limitMemory(pid int, most int64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)}, nil) //nolint:gosec // not negative
}
