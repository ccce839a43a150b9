package cli

import (
	"context"
	"os/signal"

	"github.com/skillpm/skillpm/pkg/cli/internal/connect"
	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
)

// Run is the process but for its end.
func Run(system console.System, args []string) (code diag.Code) {
	defer connect.RecoverHook(system, args, &code)
	console.QuietSignals()
	console.TuneMemory()
	ctx, stop := signal.NotifyContext(context.Background(), console.Interrupts()...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	defer stop()
	return connect.HookCode(args, Execute(ctx, system, args))
}
