package cli

import (
	"context"
	"os/signal"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/connect"
	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/secret"
)

// Run is [Main] without the sandbox.
func Run(env environ.Environment, args []string, options ...Option) (code diag.Code) {
	env.Secrets = &secret.Set{}
	env.Secrets.LearnVariables(env.Variables())
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok {
			env.Secrets.LearnURL(value)
		}
		env.Secrets.LearnURL(arg)
	}
	defer console.Recover(env, &code)
	if env.Exit != nil {
		bug.OnPanic(func(p *bug.Panic) { env.Exit(int(console.Failed(env, p))) })
	}
	console.QuietSignals()
	console.TuneMemory()
	ctx, stop := signal.NotifyContext(context.Background(), console.Interrupts()...)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	defer stop()
	return connect.HookCode(args, Execute(ctx, env, args, options...))
}
