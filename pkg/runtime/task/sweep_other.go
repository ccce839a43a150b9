//go:build !linux

package task

// sweep does nothing: the environments of other processes are not readable here.
func sweep(string) {}

// holds returns true: the open files of other processes are not visible here.
func holds(int, string) bool { return true }
