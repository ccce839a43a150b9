package cli

import (
	"context"
	"os/signal"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Run is the process but for its end.
func Run(system System, args []string) (code diag.Code) {
	defer system.unpanicked(args, &code)
	quietSignals()
	tuneMemory()
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	defer stop()
	return hookCode(args, Execute(ctx, system, args))
}
