//go:build unix

package console

import (
	"os"
	"os/signal"
	"syscall"
)

// QuietSignals has a write beyond the limit on the size of files fail with an error, as on a full disk, instead of
// ending the process.
func QuietSignals() { signal.Ignore(syscall.SIGXFSZ) }

// OutlivePipes has a write to a reader that is gone fail with an error instead of ending the process, until it is
// undone: what is going on is to be ended in order, and to be recorded. What is started meanwhile gets the signal as
// always.
func OutlivePipes() (undo func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

// Interrupts are the signals that interrupt the process: also that of a terminal which is closed, unless whoever
// started it wants that passed over, as nohup does.
func Interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
