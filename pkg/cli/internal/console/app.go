// Package console has the common code of all commands: the process's streams, environment, and clock; the global flags;
// tables, colors, and progress; prompts and completions.
//
// The command line is the only part of skillpm that prints. Results go to standard output; errors, hints, warnings, and
// progress go to standard error. With --json, standard output is one JSON document. Start reading at [App].
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// App is one invocation: the environment of the process, and the global flags.
type App struct {
	environ.Environment                  // of the process; its Config is --config
	Keyless             sign.OpenKeyless // verifies keyless signatures; may be nil

	Chdir string // -C: the directory to work in instead of the current one
	JSON  bool
	Quiet bool
	// WantsJSON reports whether the arguments contain --json, even if parsing them fails.
	WantsJSON bool
	Helpless  error // the error if the help cannot be printed
	NoColor   bool
	Closers   []func() // close the clients that the command used
	Meter     *meter   // progress display; nil if disabled
}

// Reported is returned by a command that has already printed everything; only its exit code is used.
type Reported struct{ Exit diag.Code }

func (r Reported) Error() string { return fmt.Sprintf("exit %d", r.Exit) }

// Code returns the exit code.
func (r Reported) Code() diag.Code { return r.Exit }

// Report prints an error: on standard error or, with --json, as a document on standard output.
func (a *App) Report(cmd *cobra.Command, err error) {
	if _, ok := errors.AsType[Reported](err); ok {
		return
	}
	message := err.Error()
	if errors.Is(err, context.Canceled) {
		message = "interrupted; nothing was changed by what was not finished"
	}
	code, hint := diag.CodeOf(err), diag.HintOf(err)
	if code == diag.Usage && hint == "" && cmd != nil {
		hint = fmt.Sprintf("see %s --help", cmd.CommandPath())
	}
	p := a.Palette(a.Stderr)
	fmt.Fprintf(a.Stderr, "skillpm: %s %s\n", p.Red("error:"), Printable(message))
	document := map[string]any{"code": code.String(), "exit": int(code), "message": message, "hint": hint}
	if edited, ok := errors.AsType[*skillpm.EditedError](err); ok {
		a.printEdits(edited)
		document["edited"] = edited.Edits
	}
	if hint != "" {
		fmt.Fprintf(a.Stderr, "skillpm: %s %s\n", p.Cyan("hint:"), Printable(hint))
	}
	if a.JSON {
		_ = a.PrintJSON(map[string]any{"error": document})
	}
}

// Warn prints a warning on standard error, even with --quiet.
func (a *App) Warn(format string, args ...any) {
	p := a.Palette(a.Stderr)
	fmt.Fprintf(a.Stderr, "skillpm: %s %s\n", p.Yellow("warning:"), Printable(fmt.Sprintf(format, args...)))
}

// Note prints a note on standard error, unless --quiet or --json is set.
func (a *App) Note(format string, args ...any) {
	if a.Quiet || a.JSON {
		return
	}
	fmt.Fprintf(a.Stderr, "skillpm: %s\n", Printable(fmt.Sprintf(format, args...)))
}

// PrintJSON writes one document to standard output.
func (a *App) PrintJSON(v any) error {
	return WriteJSON(a.Stdout, v)
}

// Terminal reports whether the stream is a terminal.
func Terminal(stream any) bool {
	if o, ok := stream.(*Output); ok {
		stream = o.Writer
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Palette returns the colors for a stream, none unless it is a terminal that supports them.
func (a *App) Palette(w io.Writer) Palette {
	return Palette(!a.NoColor && Terminal(w) && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb")
}

// WorkDir returns the command's working directory: -C, or the process's.
func (a *App) WorkDir() (string, error) {
	dir := a.Chdir
	if dir == "" {
		dir = a.Dir
	} else {
		dir = a.Abs(dir)
	}
	info, err := os.Stat(dir)
	switch {
	case dir == "":
		return "", diag.Errorf(diag.NotFound, "the current directory does not exist any more").
			WithHint("cd to one that does, or use -C DIR")
	case errors.Is(err, os.ErrNotExist):
		return "", diag.Errorf(diag.NotFound, "directory %s does not exist", dir).WithHint("mkdir -p %s", dir)
	case err != nil:
		return "", diag.Errorf(diag.NotFound, "directory %s cannot be used: %v", dir, err)
	case !info.IsDir():
		return "", diag.Errorf(diag.Usage, "%s is not a directory", dir)
	}
	return dir, nil
}

// Client returns the package manager client.
func (a *App) Client() (*skillpm.Client, error) {
	o, err := a.Options()
	if err != nil {
		return nil, err
	}
	c := skillpm.New(o)
	a.Closers = append(a.Closers, c.Close)
	return c, nil
}

// Author returns the client for authors.
func (a *App) Author() (*publish.Client, error) {
	o, err := a.Options()
	if err != nil {
		return nil, err
	}
	c := publish.New(o)
	a.Closers = append(a.Closers, c.Close)
	return c, nil
}

// Env returns the environment of this invocation.
func (a *App) Env() (environ.Environment, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return environ.Environment{}, err
	}
	return a.EnvironmentIn(dir)
}

// EnvironmentIn returns the environment with another working directory.
func (a *App) EnvironmentIn(dir string) (environ.Environment, error) {
	e := a.Environment
	e.Version = BuildVersion(a.Version)
	if e.Config != "" {
		e.Config = a.Abs(e.Config)
	}
	return e.At(dir)
}

// Options returns the clients' options.
func (a *App) Options() (skillpm.Options, error) {
	e, err := a.Env()
	return skillpm.Options{
		Environment: e, Keyless: a.Keyless, Progress: a.progress(), Warn: func(text string) { a.Warn("%s", text) },
	}, err
}
