//go:build unix

package console

import (
	"os"
	"os/signal"
	"syscall"
)

// QuietSignals makes a write beyond the file size limit fail with an error, as on a full disk, instead of ending the
// process.
func QuietSignals() { signal.Ignore(syscall.SIGXFSZ) }

// OutlivePipes makes a write to a closed pipe fail with an error instead of ending the process, until undo is called,
// so that the current work ends properly and is recorded. Child processes still get the signal.
func OutlivePipes() (undo func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}

// Interrupts are the signals that interrupt the process, including a closed terminal unless that signal is ignored, as
// with nohup.
func Interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
