package runtime

import (
	"context"

	"github.com/skillpm/skillpm/pkg/internal/run"
)

// EnterHelper runs this process as a helper if its arguments say so: one that confines a script, or one that ends what
// a script started. args[0] is the program's name. A program whose path is in [Options].Helper calls EnterHelper before
// anything else, and exits with the code if helper is true.
func EnterHelper(args []string) (code int, helper bool) { return run.Enter(args) }

// AdoptProcesses makes this process the parent of orphaned processes that scripts start, so that none outlives its
// script. Call it only in a program that starts no other processes.
func AdoptProcesses() { run.Adopt() }

// CheckConfinement returns why scripts cannot be confined on this machine, nil if they can. It runs a program that does
// nothing. Helper is the one of [Options].
func CheckConfinement(ctx context.Context, helper []string) error { return run.Confines(ctx, helper) }
