package gitcmd

import "golang.org/x/sys/unix"

// limitMemory limits the memory of a process and its future children, except for mapped files. It does nothing if the
// kernel does not allow it.
func limitMemory(pid int, limit int64) {
	bytes := uint64(limit) //nolint:gosec // not negative
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}
