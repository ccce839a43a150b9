//go:build unix

package run

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// status returns the exit code of a process, and the name of the signal that ended it. Like a shell, it uses 128 plus
// the signal's number as the exit code.
func status(state *os.ProcessState) (code int, signal string) {
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), unix.SignalName(s.Signal())
	}
	return state.ExitCode(), ""
}

// sameName reports whether two names mean the same environment variable.
func sameName(a, b string) bool { return a == b }
