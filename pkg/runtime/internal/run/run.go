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
	"strings"
	"syscall"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
)

const (
	// DefaultLimit is how long a command may run where nothing else is asked for.
	DefaultLimit = 90 * time.Second

	// defaultMaxOutput is how many bytes of each stream are kept where nothing else is asked for.
	defaultMaxOutput = 1 << 20

	// DefaultGrace is the moment that a command has between being asked to end and being ended.
	DefaultGrace = time.Second

	// markName is the variable that all processes of a command have in their environment, if they leave it alone.
	markName = "SKILLPM_RUN"
)

// Command is what is to be run.
type Command struct {
	Argv  []string  // the program, found in the PATH of Env if it has no slash, and its arguments
	Dir   string    // the working directory
	Env   []string  // the whole environment; nil is an empty one
	Stdin io.Reader // nil is nothing to read

	Limit     time.Duration // 0 is DefaultLimit; below 0 there is none
	Grace     time.Duration // 0 is DefaultGrace
	MaxOutput int64         // of each stream, in bytes; 0 is DefaultMaxOutput; below 0 nothing is kept

	Sandbox *sandbox.Rules // what the command may do; nil for what the user may
	// Helper is the program, and its first arguments, that confines a command: it calls [Enter]. It is needed where
	// there is a Sandbox. Without one, it ends on Linux what the command has started if this process is killed.
	Helper []string

	// Stdout and Stderr get all output as it comes. A command whose output can't be written any more gets SIGPIPE, as
	// in a shell. A writer that blocks holds the command up, until its limit. A write that has begun may end after Run.
	Stdout, Stderr io.Writer
}

// Result is how a command ended and what it wrote.
type Result struct {
	Argv                   []string
	Stdout, Stderr         []byte // what was kept
	StdoutSize, StderrSize int64  // how many bytes there were
	StdoutSum, StderrSum   string // "sha256:" and the digest of all of them, in hexadecimal digits
	Truncated              bool   // less than all was kept
	TimedOut               bool   // it was ended at its limit
	Sandbox                string // what it was confined to, "" where it was not; for the record
	// why it was not confined, although it should have been; "" where it was or should not be
	Unconfined string
	Refused    []string // hosts that it asked for and may not reach, some of them where there are many
	Removed    []string // files that it made where its sandbox wants none

	ExitCode int    // 128 and the signal's number if a signal ended it, as shells say
	Signal   string // that signal, as in "SIGTERM", or ""
	Duration time.Duration
}

// Run runs a command and returns when it has ended. The error is that it could not be started, or ctx's; in the second
// case there is a Result, too. An exit code other than 0 is no error, nor is the limit.
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
	fed, err := feed(cmd, c.Stdin)
	if err != nil {
		return nil, err
	}
	defer fed()

	// The command is told to end when the thread that started it ends: that thread is kept while it runs.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now() //nolint:forbidigo // how long a process runs is measured here and nowhere else
	r := &Result{Argv: c.Argv}
	g, err := c.begin(cmd, began, r)
	if err != nil {
		return nil, err
	}
	defer g.close()
	for _, s := range []*stream{stdout, stderr} {
		s.start()
	}
	err = c.await(ctx, g, r, stdout, stderr)
	r.Duration = time.Since(began)
	r.ended(g)
	if g.box != nil {
		r.Refused, r.Removed = g.box.Refused(), g.box.Tidy()
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

// command makes what os/exec needs, with the mark in the environment.
func (c Command) command() (*exec.Cmd, error) {
	if len(c.Argv) == 0 {
		return nil, diag.Errorf(diag.Usage, "there is no command to run")
	}
	env, path := make([]string, 0, len(c.Env)+1), ""
	mark := rand.Text()
	for _, v := range c.Env {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case name == markName: // of a command that runs this one: its processes are its, too
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

// maxMarks is how many commands, one within the other, can be told apart.
const maxMarks = 16

// lookPath finds a program in a PATH. Directories that are not absolute are passed over: what is found there depends on
// where a command happens to run.
func lookPath(name, path string) (string, error) {
	if filepath.Base(name) != name {
		return name, nil
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", diag.Errorf(diag.NotFound, "%s is not installed: it is in no directory of PATH", name).
		WithHint("install %s, or add its directory to PATH", name)
}

// notStarted says why a command could not be started, in words that name it.
func (c Command) notStarted(err error) error {
	name := c.Argv[0]
	if errors.Is(err, syscall.ENOEXEC) {
		return diag.Errorf(diag.Invalid,
			"%s can't be executed: it is no program of this system and has no #! line", name).
			WithHint("begin it with a line such as #!/bin/sh")
	}
	if _, missing := os.Stat(c.Dir); c.Dir != "" && missing != nil {
		return diag.Errorf(diag.NotFound, "the working directory %s of %s can't be used: %w", c.Dir, name, missing)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return diag.Errorf(diag.NotFound,
			"%s can't be executed: it, or the program that its #! line names, does not exist", name)
	}
	if errors.Is(err, fs.ErrPermission) {
		return diag.Errorf(diag.Denied, "%s may not be executed", name).WithHint("chmod +x %s", name)
	}
	return fmt.Errorf("%s could not be started: %w", name, err)
}

// feed connects what a command reads. What it returns lets go of it: a reader that blocks is left to itself.
func feed(cmd *exec.Cmd, reader io.Reader) (wait func(), err error) {
	if reader == nil {
		return func() {}, nil // os/exec opens the null device
	}
	if f, ok := reader.(*os.File); ok {
		cmd.Stdin = f
		return func() {}, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdin = r
	go func() {
		_, _ = io.Copy(w, reader) // a command need not read all there is
		_ = w.Close()
	}()
	return func() { _, _ = r.Close(), w.Close() }, nil
}

// await waits until the command and all that it started have ended, and ends them when it is time.
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
	case <-g.over():
	case <-ctx.Done():
	case <-unwatched.C:
		if g.box == nil { // a box ends with this process
			defer g.watch(c.Helper)()
		}
	}
	select {
	case <-g.over():
		// What it left running may still hold output: the last of a pipeline, say.
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

// drain waits until the streams are at their end, for a moment at most.
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

// ended reads how the command ended.
func (r *Result) ended(g *running) {
	var known bool
	if r.ExitCode, r.Signal, known = g.status(); !known {
		r.ExitCode = -1 // the system waits for a device
	}
}

// patience is how long a process that was killed is waited for.
const patience = 2 * time.Second

func wait(done <-chan struct{}, most time.Duration) {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
