package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/cli/internal/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// Stories run skillpm in this process, because there are thousands of commands and starting a program is most of their
// cost. "skillpm ARGS" and "exits CODE skillpm ARGS" do so, with "input FILE" as standard input of the next one. "exec
// skillpm" starts a process for tests that need one: its own PATH, signals, a closed pipe.

// pendingInput is the key of a story's standard input for its next command.
type pendingInput struct{}

// environmentNames are the names of the variables that a story may set besides those of this process.
type environmentNames struct{}

var setsVariable = regexp.MustCompile(`(?m)^(?:\[[^\]]*\] )*env (.*)$`)

// variableNames returns the names of all variables that stories set.
func variableNames(t *testing.T, dir string) []string {
	t.Helper()
	stories, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, story := range stories {
		for _, m := range setsVariable.FindAllStringSubmatch(string(readFile(t, story)), -1) {
			for word := range strings.FieldsSeq(m[1]) {
				if name, _, ok := strings.Cut(word, "="); ok {
					names = append(names, strings.TrimLeft(name, "'"))
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// input sets the standard input of the story's next skillpm.
func input(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: input FILE")
	}
	*ts.Value(pendingInput{}).(*string) = ts.ReadFile(args[0])
}

// runCommand runs skillpm in this process and requires it to succeed, or to fail.
func runCommand(ts *testscript.TestScript, neg bool, args []string) {
	switch code := inProcess(ts, args); {
	case neg && code == diag.OK:
		ts.Fatalf("unexpected command success")
	case !neg && code != diag.OK:
		ts.Fatalf("[exit status %d] unexpected command failure", code)
	}
}

// exits runs a command and requires an exit code: exits 4 skillpm info no/such.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if args[1] == "skillpm" {
		got = int(inProcess(ts, args[2:]))
	} else {
		command := args[1:]
		if command[0] == "exec" { // a process, also of skillpm
			command = command[1:]
		}
		err := ts.Exec(command[0], command[1:]...)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			got = exit.ExitCode()
		} else {
			ts.Check(err)
		}
	}
	if got != want {
		ts.Fatalf("%s exited with %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// inProcess runs skillpm as a process of the story would.
func inProcess(ts *testscript.TestScript, args []string) diag.Code {
	stdin := ts.Value(pendingInput{}).(*string)
	text := *stdin
	*stdin = ""
	var out bytes.Buffer
	code := executeSkillpm(context.Background(), environ.Environment{
		Stdin: strings.NewReader(text), Stdout: writer{io.MultiWriter(ts.Stdout(), &out)}, Stderr: writer{ts.Stderr()},
		Dir: ts.MkAbs("."), Getenv: ts.Getenv, Environ: func() []string { return storyEnvironment(ts) },
	}, args)
	ts.Check(checkOutput(args, out.Bytes()))
	return code
}

// executeSkillpm runs skillpm with streams, a directory, and variables; it adds the rest of the environment.
func executeSkillpm(ctx context.Context, system environ.Environment, args []string) diag.Code {
	system.Paths, system.OS = scope.Paths{Home: system.Getenv("HOME")}, runtime.GOOS
	system.Now, system.Version = time.Now, storyVersion
	withEnterprise(&system)
	return connect.HookCode(args, cli.Execute(ctx, system, args))
}

// storyEnvironment returns the variables of a story. Only their values can be read.
func storyEnvironment(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range ts.Value(environmentNames{}).([]string) {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// writer hides the type of a stream, so that it does not count as a file.
type writer struct{ io.Writer }

// withEnterprise moves the directory of the machine's administrator, in these tests only.
func withEnterprise(s *environ.Environment) {
	if dir := s.Getenv(enterpriseDir); dir != "" {
		s.Paths.Enterprise, s.Admin = dir, os.Getuid()
		if id, err := strconv.Atoi(s.Getenv(adminUser)); err == nil {
			s.Admin = id
		}
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
