//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// quietSignals has a write beyond the limit on the size of files fail with an error, as on a full disk, instead of ending
// the process.
func quietSignals() { signal.Ignore(syscall.SIGXFSZ) }

// interrupts are the signals that interrupt the process: also that of a terminal which is closed, unless whoever started it
// wants that passed over, as nohup does.
func interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
