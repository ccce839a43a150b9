// Command skillpm is the package manager for agent skills.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/skillpm/skillpm/cmd/skillpm/internal/cli"
)

// version is set by the release build; a `go install` build says what the module system knows.
var version string

func main() {
	quietSignals()
	tuneMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := cli.Main(ctx, cli.OS(version), os.Args[1:])
	stop()
	os.Exit(int(code))
}
