// Package cli is the command line: one file a command, each with its flags, one call into pkg/skillpm or
// pkg/publish, and what is printed.
//
// It is the only package that prints. Results go to standard output; errors, hints, warnings and progress go to
// standard error. With --json the result is one JSON document and nothing else is written to standard output.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign/keyless"
	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/skillpm/skillpm/pkg/skillpm/provider"
)

// System is what a process has: its streams, environment, directory and clock.
type System struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) string
	Environ func() []string // of the variables, as os.Environ; nil for none
	Dir     string          // the working directory
	Home    string          // the user's home directory, "" if there is none
	OS      string          // as runtime.GOOS
	Now     func() time.Time
	Version string       // of the release, "" for a build from source
	Keyless keyless.Open // what checks signatures of identities, nil for nothing

	// Enterprise is where the machine's administrator keeps what holds for everybody, "" for the system's own place, and
	// Admin the user id that a policy there must belong to. Only tests set them.
	Enterprise string
	Admin      int
}

// OS returns the System of this process.
func OS(version string) System {
	dir, _ := os.Getwd()        // an empty directory is reported when a path is needed
	home, _ := os.UserHomeDir() // likewise
	return System{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ, Dir: dir, Home: home, OS: runtime.GOOS, Now: time.Now, Version: version,
	}
}

// app is one invocation: the system and the global flags.
type app struct {
	System
	dir    string // -C
	config string // --config
	json   bool
	quiet  bool
	// asksJSON says that --json is among the arguments, also where a flag that is wrong keeps it from being read.
	asksJSON bool
	helpless error // why there is no help
	noColor  bool
	closers  []func() // of the clients that the command used
	meter    *meter   // what shows progress, nil where nothing does
}

// reported is returned by a command that has already said all there is to say; only the exit code is left.
type reported struct{ code diag.Code }

func (r reported) Error() string   { return fmt.Sprintf("exit %d", r.code) }
func (r reported) Code() diag.Code { return r.code }

// Command returns the command tree, for generated documentation.
func Command(sys System) *cobra.Command { return newRoot(&app{System: sys}, commands()) }

// Execute runs the command line and returns the exit code.
func Execute(ctx context.Context, sys System, args []string) diag.Code {
	out := &output{Writer: sys.Stdout}
	sys.Stdout = out
	a := &app{System: sys, asksJSON: slices.Contains(args, "--json")}
	root := newRoot(a, asked(args))
	root.SetArgs(args)
	root.SetIn(sys.Stdin)
	root.SetOut(sys.Stdout)
	root.SetErr(sys.Stderr)
	working, stop := context.WithCancel(ctx)
	cmd, err := root.ExecuteContextC(working)
	stop() // what was asked for and is not needed any more
	if a.meter != nil {
		a.meter.end()
	}
	for _, done := range a.closers {
		done()
	}
	if err == nil {
		err = a.helpless
	}
	if err = out.checked(err); err == nil {
		return diag.OK
	}
	if ctx.Err() != nil {
		err = context.Canceled
	}
	err = syserr.Explain(err)
	a.report(cmd, err)
	return diag.CodeOf(err)
}

// report prints an error once: for people on standard error and, with --json, as a document on standard output.
func (a *app) report(cmd *cobra.Command, err error) {
	if _, ok := errors.AsType[reported](err); ok {
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
	p := a.palette(a.Stderr)
	fmt.Fprintf(a.Stderr, "skillpm: %s %s\n", p.red("error:"), printable(message))
	document := map[string]any{"code": code.String(), "exit": int(code), "message": message, "hint": hint}
	if edited, ok := errors.AsType[*skillpm.EditedError](err); ok {
		a.printEdits(edited)
		document["edited"] = edited.Edits
	}
	if hint != "" {
		fmt.Fprintf(a.Stderr, "skillpm: %s %s\n", p.cyan("hint:"), printable(hint))
	}
	if a.json {
		_ = a.printJSON(map[string]any{"error": document})
	}
}

// warn prints a warning on standard error, --quiet or not.
func (a *app) warn(format string, args ...any) {
	p := a.palette(a.Stderr)
	fmt.Fprintf(a.Stderr, "skillpm: %s %s\n", p.yellow("warning:"), printable(fmt.Sprintf(format, args...)))
}

// note prints a remark on standard error, unless --quiet or --json.
func (a *app) note(format string, args ...any) {
	if a.quiet || a.json {
		return
	}
	fmt.Fprintf(a.Stderr, "skillpm: %s\n", printable(fmt.Sprintf(format, args...)))
}

// printJSON writes one document to standard output.
func (a *app) printJSON(v any) error {
	return writeJSON(a.Stdout, v)
}

// terminal reports whether the stream is a terminal.
func terminal(stream any) bool {
	if o, ok := stream.(*output); ok {
		stream = o.Writer
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// palette returns colours for a stream, none unless it is a terminal that wants them.
func (a *app) palette(w io.Writer) palette {
	return palette(!a.noColor && terminal(w) && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb")
}

// abs returns a path of the command line as an absolute one.
func (a *app) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Dir, path)
}

// workDir returns the directory that the command works in: -C, or the process's own.
func (a *app) workDir() (string, error) {
	dir := a.dir
	if dir == "" {
		dir = a.Dir
	} else {
		dir = a.abs(dir)
	}
	info, err := os.Stat(dir)
	switch {
	case dir == "":
		return "", diag.Errorf(diag.NotFound, "the current directory does not exist any more").WithHint("cd to one that does, or use -C DIR")
	case errors.Is(err, os.ErrNotExist):
		return "", diag.Errorf(diag.NotFound, "directory %s does not exist", dir).WithHint("mkdir -p %s", dir)
	case err != nil:
		return "", diag.Errorf(diag.NotFound, "directory %s cannot be used: %v", dir, err)
	case !info.IsDir():
		return "", diag.Errorf(diag.Usage, "%s is not a directory", dir)
	}
	return dir, nil
}

// client returns the package manager for this invocation.
func (a *app) client() (*skillpm.Client, error) {
	o, err := a.toolOptions()
	if err != nil {
		return nil, err
	}
	c := skillpm.New(o)
	a.closers = append(a.closers, c.Close)
	return c, nil
}

// author returns what does an author's work for this invocation.
func (a *app) author() (*publish.Client, error) {
	o, err := a.toolOptions()
	if err != nil {
		return nil, err
	}
	c := publish.New(o)
	a.closers = append(a.closers, c.Close)
	return c, nil
}

// toolOptions says where and for whom this invocation works.
func (a *app) toolOptions() (o provider.ToolOptions, err error) {
	dir, err := a.workDir()
	if err != nil {
		return o, err
	}
	paths, err := scope.New(scope.Env{Home: a.Home, Dir: dir, Getenv: a.Getenv, OS: a.OS})
	if err != nil {
		return o, err
	}
	if a.Enterprise != "" {
		paths.Enterprise = a.Enterprise
	}
	config := a.config
	if config != "" {
		config = a.abs(config)
	}
	return provider.ToolOptions{
		Dir: dir, Paths: paths, Config: config, Getenv: a.Getenv, Now: a.Now, OS: a.OS, Version: buildVersion(a.Version), Admin: a.Admin, Keyless: a.Keyless,
		Progress: a.progress(), Warn: func(text string) { a.warn("%s", text) },
	}, nil
}
