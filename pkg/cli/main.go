// Package cli is the command line: flags, output, and prompts over the other rooms. Start reading at root.go.
//
// The packages of the room:
//
//   - internal/author has the commands of skill authors: create, check, pack, sign, publish, and index.
//   - internal/connect has the commands that write skillpm into agents, and those that agents run: hook and mcp.
//   - internal/govern has the commands about policies, approvals, trust, and the audit log.
//   - internal/install has the commands that install, update, list, and search packs.
//   - internal/selfupdate has the command that replaces the program by a newer release.
//   - internal/serve has the commands that load, read, run, and test skills.
//   - internal/validate has the commands that validate skills.
//   - internal/console has the common code of commands: streams, flags, tables, colors, and completion.
//   - internal/render writes validation reports: text, JSON, SARIF, JUnit, and others.
//   - internal/report writes the audit log as a web page and in formats for other programs.
//   - internal/dispatch implements the dispatch protocol.
//   - internal/lsp is the language server.
//   - internal/skilltest runs the offline tests of skills, internal/evaluate runs evaluations with an agent, and
//     internal/evalfile reads the files of both in a skill's evals directory.
//   - internal/budget computes what skills cost a model.
//   - internal/outputschema generates the schemas of what commands print with --json.
//   - internal/gendocs generates the command reference, and writes the schemas.
//
// This package is part of skillpm's embedding API and keeps compatibility.
package cli

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/sign"
)

// Option configures [Main].
type Option func(*console.App)

// WithIdentityVerifier enables the verification of keyless signatures: open returns a verifier for a trusted root.
// Without it, keyless signatures are refused.
func WithIdentityVerifier(open sign.OpenKeyless) Option {
	return func(a *console.App) { a.Keyless = open }
}

// WithIdentitySigner enables signing with the identity of a CI job.
func WithIdentitySigner(open publish.OpenSigner) Option {
	return func(a *console.App) { a.OpenSigner = open }
}

// WithReleaseKeys enables self-update: program is the name of the program in releases, and keys are the public keys
// that sign releases, in the format of OpenSSH, separated by commas. Without keys, the program does not update itself.
func WithReleaseKeys(program, keys string) Option {
	return func(a *console.App) { a.Release = console.Release{Program: program, Keys: keys} }
}

// Main runs a command line, whose first argument is the program's name, and returns the exit code. version is the
// release, or "" for a build from source. A process that was started to confine a script first enters the sandbox and
// executes the script instead.
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

// executeOnce runs the command line once.
func executeOnce(ctx context.Context, a *console.App, args []string) (cmd *cobra.Command, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = bug.New(p)
		}
	}()
	root := newRoot(a, commandPath(args))
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	working, stop := context.WithCancel(a.Watched(ctx))
	cmd, err = root.ExecuteContextC(working)
	stop() // canceled work that is no longer needed
	a.EndProgress()
	for _, closeAll := range a.Closers {
		closeAll()
	}
	a.Closers = nil
	return cmd, err
}

// Execute runs the command line and returns the exit code.
func Execute(ctx context.Context, env environ.Environment, args []string, options ...Option) diag.Code {
	out := &console.Output{
		Writer: env.Stdout, Columns: console.Columns(env.Getenv("COLUMNS")), Home: env.Paths.Home,
	}
	env.Stdout = out
	a := &console.App{Environment: env, WantsJSON: slices.Contains(args, "--json")}
	if json, err := strconv.ParseBool(env.Getenv(variable("json"))); err == nil && json {
		a.WantsJSON = true
	}
	out.ASCII = console.Terminal(out) && a.ASCII()
	a.ShortHelp = !slices.Contains(args, "--help") && console.FirstOf(afterGlobalFlags(args)) != "help"
	for _, option := range options {
		option(a)
	}
	cmd, err := executeOnce(ctx, a, args)
	for a.AcceptsBinding(ctx, err) {
		cmd, err = executeOnce(ctx, a, args)
	}
	if err == nil {
		err = a.Helpless
	}
	if err = out.Checked(err); err == nil {
		return diag.OK
	}
	if ctx.Err() != nil && diag.CodeOf(err) != diag.Interrupted { // otherwise, the command has explained it
		err = context.Canceled
	}
	a.JSON = a.JSON || a.WantsJSON && diag.CodeOf(err) == diag.Usage
	err = syserr.Explain(err)
	a.Report(cmd, err)
	return diag.CodeOf(err)
}
