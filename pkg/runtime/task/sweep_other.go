//go:build !linux

package task

// sweep does nothing here: what other processes were started with is not to be seen.
func sweep(string) {}

// holds believes that a process has a file open: what others have open is not to be seen.
func holds(int, string) bool { return true }
