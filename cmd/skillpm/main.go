// Command skillpm is the package manager for agent skills.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/skillpm/skillpm/cmd/skillpm/internal/cli"
	"github.com/skillpm/skillpm/pkg/diag"
)

// version is set by the release build; a `go install` build says what the module system knows.
var version string

func main() { os.Exit(int(run(cli.OS(version)))) }

// run is the process but for its end.
func run(system cli.System) diag.Code {
	quietSignals()
	tuneMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	defer stop()
	return cli.Main(ctx, system, os.Args[1:])
}
