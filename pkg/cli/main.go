// Package cli is the command line. Main is all that other packages need.
//
// The commands are in internal packages, one for each group: install, serve, connect, govern, validate, and author.
// They share console, which has the streams, flags, and tables of an invocation, and render, which writes validation
// reports. lsp is the language server, skilltest runs the tests of skills, and dispatch is the protocol of that name.
// Start reading at root.go. Outside of skillpm only [Main] is meant to be used.
package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/sign"
)

// Option changes what a process can do.
type Option func(*console.App)

// WithIdentityVerifier makes signatures of identities checkable: open returns a verifier for a trusted root. Without it
// they are refused.
func WithIdentityVerifier(open sign.OpenKeyless) Option {
	return func(a *console.App) { a.Keyless = open }
}

// Main runs the command line args, of which the first is the program's name, and returns the exit code of the process.
// The version is that of the release, "" for a build from source. A process that was started to confine a script
// becomes that script before anything else happens.
func Main(args []string, version string, options ...Option) int {
	if code, helper := runtime.EnterHelper(args); helper {
		return code
	}
	return int(Run(environ.Process(version), args[1:], options...))
}

// Command returns the command tree, for generated documentation.
func Command(env environ.Environment) *cobra.Command {
	return newRoot(&console.App{Environment: env}, commands())
}

// Execute runs the command line and returns the exit code.
func Execute(ctx context.Context, env environ.Environment, args []string, options ...Option) diag.Code {
	out := &console.Output{Writer: env.Stdout}
	env.Stdout = out
	a := &console.App{Environment: env, WantsJSON: slices.Contains(args, "--json")}
	for _, option := range options {
		option(a)
	}
	root := newRoot(a, commandPath(args))
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	working, stop := context.WithCancel(ctx)
	cmd, err := root.ExecuteContextC(working)
	stop() // what was asked for and is not needed any more
	if a.Meter != nil {
		a.Meter.End()
	}
	for _, closeAll := range a.Closers {
		closeAll()
	}
	if err == nil {
		err = a.Helpless
	}
	if err = out.Checked(err); err == nil {
		return diag.OK
	}
	if ctx.Err() != nil {
		err = context.Canceled
	}
	err = syserr.Explain(err)
	a.Report(cmd, err)
	return diag.CodeOf(err)
}
