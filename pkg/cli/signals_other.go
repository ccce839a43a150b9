//go:build !unix

package cli

import (
	"os"
	"syscall"
)

// quietSignals does nothing: there is no such signal here.
func quietSignals() {}

// interrupts are the signals that interrupt the process.
func interrupts() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// outlivePipes does nothing: there is no such signal.
func outlivePipes() (undo func()) { return func() {} }
