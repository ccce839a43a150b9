//go:build !linux

package run

import (
	"time"

	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

// watchAfter is how long a command runs before it gets a watcher.
const watchAfter = 200 * time.Millisecond

// Enter is the program that [Command.Helper] names: see the one for Linux.
func Enter(args []string) (code int, helper bool) { return sandbox.Enter(args) }

// watch does nothing: on Windows a job ends with who made it, and elsewhere nothing finds a command's processes.
func (g *group) watch([]string) (done func()) { return func() {} }
