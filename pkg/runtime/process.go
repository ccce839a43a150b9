package runtime

import (
	"context"

	"github.com/skillpm/skillpm/pkg/runtime/internal/run"
)

// EnterHelper makes this process what its arguments, of which the first is the program's name, say that it was started
// for: to confine a script, or to end what a script started. A program whose path is in [Options].Helper calls it
// before anything else, and exits with the code if helper is true.
func EnterHelper(args []string) (code int, helper bool) { return run.Enter(args) }

// AdoptProcesses makes this process the parent of orphaned processes that scripts start, so that none outlives its
// script. It is for programs that start nothing else.
func AdoptProcesses() { run.Adopt() }

// CheckConfinement returns why scripts cannot be confined on this machine, nil if they can. It runs a program that does
// nothing. Helper is as in [Options].
func CheckConfinement(ctx context.Context, helper []string) error { return run.Confines(ctx, helper) }
