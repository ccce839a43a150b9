//go:build !linux

package run

import (
	"os/exec"
	"time"

	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

// Supervise changes nothing: only Linux has supervisors.
func Supervise(*exec.Cmd, []string) (end func(), err error) { return nil, nil }

// watchAfter is how long a command runs before it gets a watcher.
const watchAfter = 200 * time.Millisecond

// Enter is the main function of the program in [Command].Helper: see the one for Linux.
func Enter(args []string) (code int, helper bool) { return sandbox.Enter(args) }

// watch does nothing: on Windows a job ends with its creator, and elsewhere a command's processes cannot be found.
func (g *group) watch([]string) (done func()) { return func() {} }
