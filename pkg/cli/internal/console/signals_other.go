//go:build !unix

package console

import (
	"os"
	"syscall"
)

// QuietSignals does nothing on this system.
func QuietSignals() {}

// Interrupts are the signals that interrupt the process.
func Interrupts() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// OutlivePipes does nothing on this system.
func OutlivePipes() (undo func()) { return func() {} }
