package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	shexpand "mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/cli/internal/connect"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// shell runs command lines like sh, with skillpm in this process, for the reason that stories have: starting the program
// is most of what a command costs. A program that starts skillpm starts a process.
type shell struct {
	dir string   // of the next command line; a command line can change it
	env []string // NAME=VALUE
}

// run runs a command line and returns its exit code and what it prints to standard output and standard error.
func (s *shell) run(t testing.TB, line string) (code int, output string) {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		t.Fatal(err)
	}
	out := &sharedBuffer{}
	runner, err := interp.New(interp.Env(shexpand.ListEnviron(s.env...)), interp.Dir(s.dir), interp.StdIO(nil, out, out),
		interp.ExecHandlers(skillpmInProcess))
	if err != nil {
		t.Fatal(err)
	}
	err = runner.Run(t.Context(), file)
	status, failed := errors.AsType[interp.ExitStatus](err)
	if err != nil && !failed {
		t.Fatalf("%s: %v", line, err)
	}
	s.dir = runner.Dir
	return int(status), out.String()
}

// skillpmInProcess returns a handler that runs skillpm in this process, and other programs with next.
func skillpmInProcess(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		if args[0] != "skillpm" {
			return next(ctx, args)
		}
		shell := interp.HandlerCtx(ctx)
		getenv := func(name string) string {
			if v := shell.Env.Get(name); v.Exported {
				return v.String()
			}
			return ""
		}
		system := environ.Environment{
			Stdin: shell.Stdin, Stdout: writer{shell.Stdout}, Stderr: writer{shell.Stderr},
			Getenv: getenv, Environ: func() []string { return exported(shell.Env) },
			Dir: shell.Dir, Paths: scope.Paths{Home: getenv("HOME")}, OS: runtime.GOOS, Now: time.Now, Version: storyVersion,
		}
		if shell.Stdin == nil || shell.Stdin == (*os.File)(nil) {
			system.Stdin = strings.NewReader("")
		}
		withEnterprise(&system)
		if code := connect.HookCode(args[1:], cli.Execute(ctx, system, args[1:])); code != 0 {
			return interp.ExitStatus(code) //nolint:gosec // exit codes are small
		}
		return nil
	}
}

// exported returns the variables that programs receive.
func exported(env shexpand.Environ) (list []string) {
	for name, v := range env.Each {
		if v.Exported {
			list = append(list, fmt.Sprintf("%s=%s", name, v))
		}
	}
	return list
}

// sharedBuffer is a buffer for several commands that run at the same time.
type sharedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sharedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *sharedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
