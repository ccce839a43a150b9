package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	shexpand "mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/testkit"
)

// commandShell runs command lines like sh, but runs skillpm in this process, as stories do: most of the time of a
// command is the start of the program. If another program starts skillpm, it starts a process.
type commandShell struct {
	dir string   // of the next command line; a command line can change it
	env []string // NAME=VALUE
}

// run runs a command line and returns its exit code and what it prints to standard output and standard error.
func (s *commandShell) run(t testing.TB, line string) (code int, output string) {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		t.Fatal(err)
	}
	out := &testkit.Buffer{}
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
		c := interp.HandlerCtx(ctx)
		stdin := c.Stdin
		if stdin == nil || stdin == (*os.File)(nil) {
			stdin = strings.NewReader("")
		}
		env := exported(c.Env)
		if code := executeInProcess(ctx, c.Dir, env, stdin, c.Stdout, c.Stderr, args[1:]); code != diag.OK {
			return interp.ExitStatus(code) //nolint:gosec // exit codes are small
		}
		return nil
	}
}

// executeInProcess runs skillpm as a process with these variables would, except for signals and what other packages
// than cli read from the variables of the process.
func executeInProcess(
	ctx context.Context, dir string, env []string, stdin io.Reader, stdout, stderr io.Writer, args []string,
) diag.Code {
	getenv := func(name string) string {
		for _, v := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
	return executeSkillpm(ctx, environ.Environment{
		Stdin: stdin, Stdout: writer{stdout}, Stderr: writer{stderr}, Dir: dir,
		Getenv: getenv, Environ: func() []string { return env },
	}, args)
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
