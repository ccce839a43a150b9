package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Run is the process but for its end.
func Run(system System, args []string) diag.Code {
	quietSignals()
	tuneMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	defer stop()
	return Main(ctx, system, args)
}
