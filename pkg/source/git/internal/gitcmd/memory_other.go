//go:build !linux

package gitcmd

// limitMemory does nothing where one process cannot bound the memory of another.
func limitMemory(int, int64) {}
