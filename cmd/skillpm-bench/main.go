// Command skillpm-bench measures skillpm against the programs that people would use in its place: npm's skills, git,
// oras and cp, with generated packs over loopback.
//
// Every figure is of whole processes, from the start to the exit, as the operating system accounts for them. Commands
// that are compared run in turn, A B A B, and the ratio is taken pair by pair, so that a machine whose speed changes
// changes both. docs/dev/testing.md explains the rows.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	self, _ := os.Executable()   // an empty path is reported when a process is to be started
	code := run(ctx, system{
		Args: os.Args[1:], Self: self, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ: os.Environ(), Now: time.Now, //nolint:forbidigo // this is where the program meets its system
	})
	stop()
	os.Exit(code) //nolint:forbidigo // likewise
}
