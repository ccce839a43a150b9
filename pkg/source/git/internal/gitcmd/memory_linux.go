package gitcmd

import "golang.org/x/sys/unix"

// limitMemory limits the memory of a process and its future children, except for mapped files. It does nothing if the
// kernel does not allow it.
func limitMemory(pid int, most int64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)}, nil) //nolint:gosec // not negative
}
