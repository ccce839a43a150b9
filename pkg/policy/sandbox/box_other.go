//go:build !linux

package sandbox

import (
	"os/exec"
	"runtime"
	"time"
)

// Box is not used on this system.
type Box struct {
	Cmd *exec.Cmd
}

// Version returns 0: there is no Landlock.
func Version() int { return 0 }

// New returns an [UnavailableError], because only Linux can confine commands.
func New(*Rules, []string, *exec.Cmd) (*Box, error) {
	return nil, unavailable("the sandbox requires Linux, but this system is %s", runtime.GOOS)
}

// NotStarted returns err.
func (b *Box) NotStarted(err error) error { return err }

// Begin does nothing.
func (b *Box) Begin(time.Duration) error { return nil }

// Over is never closed.
func (b *Box) Over() <-chan struct{} { return nil }

// Ended returns false.
func (b *Box) Ended() (code int, signal string, ok bool) { return 0, "", false }

// Tidy does nothing.
func (b *Box) Tidy() (changed, replaced []string) { return nil, nil }

// Refused returns nothing.
func (b *Box) Refused() []string { return nil }

// Close does nothing.
func (b *Box) Close() {}

// Enter returns false: there is no helper.
func Enter([]string) (code int, helper bool) { return 0, false }
