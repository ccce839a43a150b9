//go:build unix

package cli

import (
	"os/signal"
	"syscall"
)

// quietSignals has a write beyond the limit on the size of files fail with an error, as on a full disk, instead of ending
// the process.
func quietSignals() { signal.Ignore(syscall.SIGXFSZ) }
