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
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/spf13/cobra"
)

// App is one invocation: the environment of the process, and the global flags.
type App struct {
	environ.Environment                    // of the process; its Config is --config
	Keyless             sign.OpenKeyless   // verifies keyless signatures; may be nil
	OpenSigner          publish.OpenSigner // signs with the identity of a CI job; may be nil
	Release             Release            // of this build

	Chdir string // -C: the directory to work in instead of the current one
	JSON  bool
	Quiet bool
	// WantsJSON reports whether the command line or the environment asks for JSON, even if parsing the flags or the
	// arguments fails.
	WantsJSON bool
	ShortHelp bool  // neither --help nor the command help
	Helpless  error // the error if the help cannot be printed
	Verbose   int   // how often -v was given
	Color     ColorMode
	Closers   []func() // close the clients that the command used

	asked     map[skillpm.ReboundError]bool // what the user was asked about
	increases map[string]bool               // which updates that add capabilities the user accepted or refused
	meter     atomic.Pointer[meter]         // progress display; nil until it is needed, and with --quiet
	meterOnce sync.Once

	recognized sync.Once // prints why the project's profile was chosen
}

// Release is what a release build knows about releases. It is empty for a build from source.
type Release struct {
	Program string // the name of the program in releases
	Keys    string // public keys that sign releases, in the format of OpenSSH, separated by commas
}

// ColorMode is the value of --color: "" means auto.
type ColorMode string

// ColorModes are the values of --color.
var ColorModes = []string{"auto", "always", "never"}

// String returns the mode.
func (m *ColorMode) String() string { return string(*m) }

// Type names the kind of the value.
func (m *ColorMode) Type() string { return "string" }

// Set checks and sets the mode.
func (m *ColorMode) Set(text string) error {
	if !slices.Contains(ColorModes, text) {
		return errors.New("use auto, always, or never")
	}
	*m = ColorMode(text)
	return nil
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
	message := describe(a.Environment, err)
	if errors.Is(err, context.Canceled) {
		message = "interrupted; no changes were made"
	}
	code, hint := diag.CodeOf(err), a.Secrets.Redact(diag.HintOf(err))
	if code == diag.Usage && hint == "" && cmd != nil {
		hint = fmt.Sprintf("run %q", cmd.CommandPath()+" --help")
	}
	p := a.Palette(a.Stderr)
	a.printMessage(p.Red("error:"), message)
	failure := Failure{Code: code.String(), Exit: int(code), Message: message, Hint: hint}
	if edited, ok := errors.AsType[*skillpm.EditedError](err); ok {
		a.printEdits(edited)
		failure.Edited = edited.Edits
	}
	if increase, ok := errors.AsType[*skillpm.IncreaseError](err); ok {
		a.reportIncreases(increase)
		failure.Increases = increase.Increases
	}
	a.Hint(hint)
	if a.JSON {
		_ = a.PrintJSON(ErrorDocument{Error: failure})
	}
}

// AfterResult reports an error of a command that has already printed its result: with --json on standard error only,
// because standard output has one document.
func (a *App) AfterResult(cmd *cobra.Command, err error) error {
	if err == nil || !a.JSON {
		return err
	}
	a.JSON = false
	a.Report(cmd, err)
	return Reported{Exit: diag.CodeOf(err)}
}

// Warn prints a warning on standard error, even with --quiet.
func (a *App) Warn(format string, args ...any) {
	p := a.Palette(a.Stderr)
	a.printMessage(p.Yellow("warning:"), fmt.Sprintf(format, args...))
}

// Hint prints what to do about the warning before it. An empty hint prints nothing.
func (a *App) Hint(hint string) {
	if hint != "" {
		p := a.Palette(a.Stderr)
		a.printMessage(p.Cyan("hint:"), hint)
	}
}

// Note prints a note on standard error, unless --quiet or --json is set.
func (a *App) Note(format string, args ...any) {
	if a.Quiet || a.JSON {
		return
	}
	a.printMessage("", fmt.Sprintf(format, args...))
}

// PrintJSON writes one document to standard output, with the schemaVersion. The schema of each command's documents is
// in schema/output; see [Document].
func (a *App) PrintJSON(v any) error {
	return WriteDocument(a.Stdout, v)
}

// PrintForeign writes JSON in a format that an agent or a protocol fixes.
func (a *App) PrintForeign(v any) error {
	return WriteJSON(a.Stdout, v)
}

// Palette returns the colors for a stream, none unless it is a terminal that supports them.
func (a *App) Palette(w io.Writer) Palette {
	force := a.Getenv("FORCE_COLOR")
	switch {
	case a.Color == "always":
		return true
	case a.Color == "never" || a.Getenv("NO_COLOR") != "" || force == "0" || force == "false":
		return false
	case force != "":
		return true
	}
	return Palette(Terminal(w) && a.Getenv("TERM") != "dumb")
}

// ASCII reports whether the user's terminal shows only ASCII: it is dumb, or the locale is not UTF-8. An unset locale
// counts as UTF-8, as in containers and in CI.
func (a *App) ASCII() bool {
	if a.Getenv("TERM") == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := a.Getenv(name); locale != "" {
			locale = strings.ToLower(strings.ReplaceAll(locale, "-", ""))
			return a.OS != "windows" && !strings.Contains(locale, "utf8")
		}
	}
	return false
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
		return "", diag.Errorf(diag.NotFound, "the current directory no longer exists").
			WithHint("change to another directory, or use -C DIR")
	case errors.Is(err, os.ErrNotExist):
		return "", diag.Errorf(diag.NotFound, "directory %s does not exist", dir).
			WithHint("create the directory with: mkdir -p %s", dir)
	case err != nil:
		return "", diag.Errorf(diag.NotFound, "cannot use directory %s: %v", dir, err)
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
	e, err := a.EnvironmentIn(dir)
	e.Paths.Exact = a.Chdir != ""
	return e, err
}

// NewProjectNote returns a note about the directory that becomes a project if the command creates one in a scope, "" if
// it does not create one, or creates it in the working directory.
func (a *App) NewProjectNote(in string) string {
	e, err := a.Env()
	if err != nil || in != scope.KindProject {
		return ""
	}
	s, found, err := e.Paths.Project(e.Dir)
	if err != nil || found || s.Root == e.Dir {
		return ""
	}
	return fmt.Sprintf(
		"The project is the root of the repository, %s. To use this directory instead, run \"skillpm init\" first.", s.Root)
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

// NoteUnlessEmpty is [App.Note] for a text that may be empty.
func (a *App) NoteUnlessEmpty(text string) {
	if text != "" {
		a.Note("%s", text)
	}
}

// Options returns the clients' options.
func (a *App) Options() (skillpm.Options, error) {
	e, err := a.Env()
	return skillpm.Options{
		Environment: e, Keyless: a.Keyless, Progress: a.Progress(), Warn: func(text string) { a.Warn("%s", text) },
	}, err
}
