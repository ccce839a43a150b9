package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

const (
	// DefaultLimit is the default of [Command].Limit.
	DefaultLimit = 90 * time.Second

	// defaultMaxOutput is the default of [Command].MaxOutput.
	defaultMaxOutput = 1 << 20

	// DefaultGrace is the default of [Command].Grace.
	DefaultGrace = time.Second

	// markName is an environment variable that identifies the processes of a command.
	markName = "SKILLPM_RUN"
)

// Command describes a command to run.
type Command struct {
	Argv  []string  // program and arguments; a program without a slash is searched in the PATH of Env
	Dir   string    // working directory
	Env   []string  // complete environment; nil is an empty one
	Stdin io.Reader // nil is an empty input

	Limit     time.Duration // maximum run time; 0 is DefaultLimit, below 0 there is no limit
	Grace     time.Duration // time between SIGTERM and SIGKILL; 0 is DefaultGrace
	MaxOutput int64         // bytes of each stream in the result; 0 is 1 MiB, below 0 keeps nothing

	Sandbox *sandbox.Rules // restrictions; nil runs the command with the user's permissions
	// Helper is the program, with its first arguments, that confines a command: its main calls [Enter]. A Sandbox needs
	// it. On Linux, without such arguments, it also ends the command's processes if this process is killed.
	Helper []string

	// Stdout and Stderr get all output as it is printed. If a write fails, the command gets SIGPIPE, as in a shell. A
	// writer that blocks stops the command until its limit, and that write may end after Run.
	Stdout, Stderr io.Writer
}

// Result is the outcome of a command.
type Result struct {
	Argv                   []string
	Stdout, Stderr         []byte // at most Command.MaxOutput bytes
	StdoutSize, StderrSize int64  // bytes printed
	StdoutSum, StderrSum   string // "sha256:" and the hexadecimal digest of everything printed
	Truncated              bool   // Stdout or Stderr is incomplete
	TimedOut               bool   // it exceeded its limit
	Sandbox                string // restrictions for the audit log, "" if it was not confined
	// Unconfined is why it was not confined although it should have been, else "".
	Unconfined string
	Refused    []string // network hosts that it tried to reach and must not, possibly not all of them
	Removed    []string // paths that it created or replaced, that its sandbox forbids, and that were moved away
	Replaced   []string // read-only paths that it could change: another program replaced them, or they cannot be opened

	ExitCode int    // exit code, or 128 plus the number of the signal that ended it
	Signal   string // name of that signal, such as "SIGTERM", or ""
	Duration time.Duration
}

// Run runs a command and returns when it has ended. The error is why it could not be started, or the context's; in the
// second case there is also a Result. Neither an exit code other than 0 nor an exceeded limit is an error.
func Run(ctx context.Context, c Command) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	cmd, err := c.command()
	if err != nil {
		return nil, err
	}
	stdout, err := newStream(c.Stdout, c.MaxOutput)
	if err != nil {
		return nil, err
	}
	defer stdout.close()
	stderr, err := newStream(c.Stderr, c.MaxOutput)
	if err != nil {
		return nil, err
	}
	defer stderr.close()
	cmd.Stdout, cmd.Stderr = stdout.write, stderr.write
	fed, err := c.pipeInput(cmd)
	if err != nil {
		return nil, err
	}
	defer fed()

	// The kernel ends the command when the thread that started it ends, so that thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now() //nolint:forbidigo // how long a process runs is measured here and nowhere else
	r := &Result{Argv: c.Argv}
	g, err := c.start(cmd, began, r)
	if err != nil {
		return nil, err
	}
	defer g.close()
	for _, s := range []*stream{stdout, stderr} {
		s.start()
	}
	err = c.await(ctx, g, r, stdout, stderr)
	r.Duration = time.Since(began)
	r.recordEnd(g)
	if g.box != nil {
		r.Refused = g.box.Refused()
		r.Removed, r.Replaced = g.box.Tidy()
	}
	r.Stdout, r.StdoutSize, r.StdoutSum = stdout.captured()
	r.Stderr, r.StderrSize, r.StderrSum = stderr.captured()
	r.Truncated = stdout.cut() || stderr.cut()
	return r, err
}

func (c Command) withDefaults() Command {
	if c.Limit == 0 {
		c.Limit = DefaultLimit
	}
	if c.Grace <= 0 {
		c.Grace = DefaultGrace
	}
	if c.MaxOutput == 0 {
		c.MaxOutput = defaultMaxOutput
	}
	return c
}

// command returns the exec.Cmd, with the mark in its environment.
func (c Command) command() (*exec.Cmd, error) {
	if len(c.Argv) == 0 {
		return nil, diag.Errorf(diag.Usage, "no command to run")
	}
	env, path := make([]string, 0, len(c.Env)+1), ""
	mark := rand.Text()
	for _, v := range c.Env {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case name == markName: // keep the mark of a command that runs this process
			mark = value[max(0, len(value)-maxMarks*(len(mark)+1)):] + ":" + mark
			continue
		case sameName(name, "PATH"):
			path = value
		}
		env = append(env, v)
	}
	program, err := lookPath(c.Argv[0], path)
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{
		Path: program, Args: c.Argv, Dir: c.Dir, Env: append(env, markName+"="+mark), SysProcAttr: apart(),
	}, nil
}

// Independent returns the environment of a process that outlives the commands of this process. With a mark, no command
// takes it for an orphan of its own. A process that a command started keeps the command's mark, and ends with it.
func Independent(env []string, id string) []string {
	if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, markName+"=") }) {
		return env
	}
	independent.Store(id, []byte(id))
	return append(slices.Clone(env), markName+"="+id)
}

// independent has the marks of processes that outlive the commands of this process.
var independent sync.Map

// maxMarks is the maximum number of nested commands that have their own mark.
const maxMarks = 16

// lookPath finds a program in a PATH.
func lookPath(name, path string) (string, error) {
	if filepath.Base(name) != name {
		return name, nil
	}
	if found, ok := environ.LookPath(name, path); ok {
		return found, nil
	}
	return "", diag.Errorf(diag.NotFound, "%s is not installed: no directory on PATH contains it", name).
		WithHint("install %s, or add its directory to PATH", name)
}

// startError returns the error that a command could not be started.
func (c Command) startError(err error) error {
	name := c.Argv[0]
	if errors.Is(err, syscall.ENOEXEC) {
		return diag.Errorf(diag.Invalid,
			"cannot execute %s: it is not a program for this system, and does not have a #! line", name).
			WithHint("add a first line, such as #!/bin/sh")
	}
	if _, missing := os.Stat(c.Dir); c.Dir != "" && missing != nil {
		return diag.Errorf(diag.NotFound, "cannot run %s in the directory %s: %w", name, c.Dir, missing)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return diag.Errorf(diag.NotFound,
			"cannot execute %s: the file or the program in its #! line does not exist", name)
	}
	if errors.Is(err, fs.ErrPermission) {
		return diag.Errorf(diag.Denied, "cannot execute %s: permission denied", name).
			WithHint("make the file executable with: chmod +x %s", name)
	}
	return fmt.Errorf("cannot start %s: %w", name, err)
}

// pipeInput connects the command's standard input. The returned function releases it without waiting for a reader that
// blocks. A confined command does not get a regular file or a directory, because its descriptor leads around the mounts
// of the sandbox: it can be opened again for writing. What it does not read of a file stays for the next reader, such
// as a loop of a shell.
func (c Command) pipeInput(cmd *exec.Cmd) (release func(), err error) {
	if c.Stdin == nil {
		return func() {}, nil // os/exec uses the null device
	}
	f, ok := c.Stdin.(*os.File)
	if ok {
		info, err := f.Stat()
		if c.Sandbox == nil || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			cmd.Stdin = f
			return func() {}, nil
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdin = r
	var began int64
	if ok {
		began, err = f.Seek(0, io.SeekCurrent)
		ok = err == nil
	}
	over, left := make(chan struct{}), make(chan struct{})
	bug.Go(func() {
		defer close(left)
		copied, _ := io.Copy(w, c.Stdin) // a command need not read all of its input
		_ = w.Close()
		<-over
		if !ok {
			return
		}
		if unread, err := io.Copy(io.Discard, r); err == nil { // more than was copied if the command wrote to its input
			_, _ = f.Seek(began+max(0, copied-unread), io.SeekStart)
		}
	})
	return func() {
		close(over)
		_ = w.Close()
		if ok {
			wait(left, patience) // the pipe does not end while a process that skillpm cannot end can write to it
		}
		_ = r.Close()
	}, nil
}

// await waits until the command and all its processes have ended, and ends them at the limit or the context's end.
func (c Command) await(ctx context.Context, g *running, r *Result, streams ...*stream) error {
	var limit <-chan time.Time
	if c.Limit > 0 {
		t := time.NewTimer(c.Limit)
		defer t.Stop()
		limit = t.C
	}
	var err error
	unwatched := time.NewTimer(watchAfter)
	defer unwatched.Stop()
	select {
	case <-g.ended():
	case <-ctx.Done():
	case <-unwatched.C:
		defer g.watch(c.Helper)()
	}
	select {
	case <-g.ended():
		// Processes that it left running, such as the last one of a pipeline, may still write output.
		drain(c.Grace, limit, ctx.Done(), streams)
		g.retire(c.Grace)
	case <-limit:
		r.TimedOut = true
		g.end(c.Grace)
	case <-ctx.Done():
		err = ctx.Err()
		g.end(c.Grace)
	}
	drain(c.Grace, nil, nil, streams)
	return err
}

// drain waits for the end of the streams, at most for a duration.
func drain(most time.Duration, limit <-chan time.Time, done <-chan struct{}, streams []*stream) {
	t := time.NewTimer(most)
	defer t.Stop()
	for _, s := range streams {
		select {
		case <-s.ended:
		case <-t.C:
			return
		case <-limit:
			return
		case <-done:
			return
		}
	}
}

// recordEnd sets how the command ended.
func (r *Result) recordEnd(g *running) {
	var known bool
	if r.ExitCode, r.Signal, known = g.status(); !known {
		r.ExitCode = -1 // it hangs in the kernel
	}
}

// patience is the maximum wait for a killed process to exit.
const patience = 2 * time.Second

func wait(done <-chan struct{}, most time.Duration) {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
