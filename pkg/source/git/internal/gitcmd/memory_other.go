//go:build !linux

package gitcmd

// limitMemory does nothing: only Linux can limit the memory of another process.
func limitMemory(int, int64) {}
