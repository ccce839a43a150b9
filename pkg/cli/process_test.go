package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect/hook"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// TestO10Panic checks SPEC O10: a panic of skillpm is not a denial: its exit code is that of an error.
func TestO10Panic(t *testing.T) {
	var errs bytes.Buffer
	system := environ.Environment{Stdin: broken{}, Stdout: broken{}, Stderr: &errs, Paths: scope.Paths{Home: t.TempDir()}, Dir: t.TempDir(), Now: time.Now, Getenv: func(string) string { return "" }}
	if code := Run(system, []string{"hook", "--help"}); code != diag.Internal || !strings.Contains(errs.String(), "error: skillpm has a bug: write; report: ") {
		t.Errorf("exit %d: %s", code, &errs)
	}
}

// TestPanics makes each command panic at each of its first calls of a function of its environment: it prints one line
// with the path of a report, and its exit code is that of an internal error. The report has no arguments and no
// variables.
func TestPanics(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	root := newRoot(&console.App{}, commands())
	tried := 0
	each(root, func(c *cobra.Command) {
		if !c.Runnable() {
			return
		}
		args := append(strings.Fields(c.CommandPath())[1:], "hunter2-argument")
		for fail := range 7 {
			var out, errs bytes.Buffer
			calls := 0
			getenv := func(string) string {
				if calls++; calls == fail+1 {
					panic("first line\nsecond line with hunter2-secret")
				}
				return ""
			}
			env := environ.Environment{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: getenv, Dir: dir, Paths: scope.Paths{Home: dir},
				Now: time.Now, Environ: func() []string { return []string{"A_PASSWORD=hunter2-secret", "NAME=hunter2-value"} },
			}
			code := Run(env, args)
			if calls <= fail {
				continue // the command ended before
			}
			tried++
			lines := strings.Split(strings.TrimSpace(errs.String()), "\n") // the first ones may be about the command line
			text, found := strings.CutPrefix(lines[len(lines)-1], "error: skillpm has a bug: first line second line with ***; report: ")
			if code != diag.Internal || !found || strings.Count(errs.String(), "bug") != 2 || strings.Contains(errs.String(), "goroutine") {
				t.Errorf("%q, call %d: exit %d: %s", args, fail, code, &errs)
				continue
			}
			report, err := os.ReadFile(text)
			if err != nil || !strings.Contains(string(report), "process_test.go") || strings.Contains(string(report), "hunter2") {
				t.Errorf("%q, call %d: the report is %v %s", args, fail, err, report)
			}
			_ = os.Remove(text)
		}
	})
	if tried < 400 {
		t.Errorf("only %d panics", tried)
	}
}

// crashing is a reader and a source of variables whose first use makes a goroutine panic that nobody awaits.
type crashing struct {
	out, errs bytes.Buffer
	once      sync.Once
	exit      chan int
	code      int    // of the process
	printed   string // until its end
}

func (c *crashing) crash() {
	c.once.Do(func() {
		bug.Go(func() { panic("background hunter2-secret") })
		c.code = <-c.exit
		c.printed = c.out.String() + c.errs.String()
	})
}

func (c *crashing) Read([]byte) (int, error) { c.crash(); return 0, io.EOF }
func (c *crashing) getenv(string) string     { c.crash(); return "" }

func (c *crashing) environment(dir string) environ.Environment {
	return environ.Environment{
		Stdin: c, Stdout: &c.out, Stderr: &c.errs, Getenv: func(string) string { return "" }, Dir: dir, Paths: scope.Paths{Home: dir},
		Now: time.Now, OS: runtime.GOOS, Environ: func() []string { return []string{"A_PASSWORD=hunter2-secret"} },
		Exit: func(code int) { c.exit <- code },
	}
}

// TestBackgroundPanics makes a goroutine panic that no command awaits: the process ends at once with one line and a
// report, and a tool call is denied.
func TestBackgroundPanics(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	const line = "skillpm has a bug: background ***; report: "
	c := crashing{exit: make(chan int)}
	env := c.environment(dir)
	env.Getenv = c.getenv
	Run(env, []string{"list"})
	if c.code != int(diag.Internal) || !strings.HasPrefix(c.printed, "error: "+line) || strings.Count(c.printed, "\n") != 1 {
		t.Errorf("exit %d: %s", c.code, c.printed)
	}
	for _, agent := range hook.Agents() {
		for _, event := range agent.Events {
			c := crashing{exit: make(chan int, 1)}
			Run(c.environment(dir), []string{"hook", event, "--agent", agent.ID})
			var late bug.WaitGroup // an agent ignores a denial after the answer
			late.Go(func() { panic("late") })
			late.Wait()
			if strings.Contains(c.out.String(), "late") {
				t.Errorf("%s %s: %s", agent.ID, event, &c.out)
			}
			denial, want := hook.Denial(agent.ID, event, errors.New("skillpm has a bug: background ***")), int(diag.Internal)
			if denial != nil {
				want = int(diag.OK)
			}
			if c.code != want || !strings.Contains(c.printed, line) || !strings.HasPrefix(c.printed, string(denial)) {
				t.Errorf("%s %s: exit %d: %s", agent.ID, event, c.code, c.printed)
			}
		}
	}
}

// TestHookPanics makes the hook command panic at each of its first calls of a function of its environment, for each
// agent and event: a tool call is denied in the agent's format, and other events end with an internal error.
func TestHookPanics(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	for _, agent := range hook.Agents() {
		for _, event := range agent.Events {
			denial := string(hook.Denial(agent.ID, event, errors.New("x")))
			var out, errs bytes.Buffer
			env := environ.Environment{
				Stdin: broken{}, Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: dir,
				Paths: scope.Paths{Home: dir}, Now: time.Now, OS: runtime.GOOS,
			}
			if code := Run(env, []string{"hook", event, "--agent", agent.ID}); code == diag.Usage || !strings.Contains(out.String()+errs.String(), "skillpm has a bug: read") ||
				denial != "" && !strings.Contains(out.String(), "skillpm has a bug: read") {
				t.Errorf("%s %s, while it is read: exit %d: %s %s", agent.ID, event, code, &out, &errs)
			}
			env.Stdin, env.Stderr = strings.NewReader("{"), &brokenOnce{}
			out.Reset()
			if code := Run(env, []string{"hook", event, "--agent", agent.ID}); denial != "" && (code != diag.OK || strings.Count(out.String(), "\n") != strings.Count(denial, "\n")) {
				t.Errorf("%s %s, after the answer: exit %d: %s", agent.ID, event, code, &out)
			}
			for fail := range 7 {
				var out, errs bytes.Buffer
				calls := 0
				clock := func() time.Time {
					if calls++; calls == fail+1 {
						panic("clock hunter2-secret")
					}
					return time.Unix(1_700_000_000, 0)
				}
				input := `{"hook_event_name": "` + event + `", "session_id": "s", "cwd": "` + dir + `", "tool_name": "Bash", "tool_input": {"command": "ls"}}`
				env := environ.Environment{
					Stdin: strings.NewReader(input), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: dir,
					Paths: scope.Paths{Home: dir}, Now: clock, OS: runtime.GOOS,
					Environ: func() []string { return []string{"A_PASSWORD=hunter2-secret"} },
				}
				code := Run(env, []string{"hook", event, "--agent", agent.ID})
				if calls <= fail {
					continue
				}
				if !strings.Contains(errs.String(), "skillpm has a bug: clock") {
					continue // it was only needed for a note
				}
				if strings.Contains(out.String()+errs.String(), "hunter2") {
					t.Errorf("%s %s, call %d: a secret is printed: %s %s", agent.ID, event, fail, &out, &errs)
				}
				if denial != "" && (code != diag.OK || !strings.Contains(out.String(), "skillpm has a bug")) {
					t.Errorf("%s %s, call %d: exit %d: %s %s", agent.ID, event, fail, code, &out, &errs)
				}
				if denial == "" && (code != diag.Internal || out.Len() > 0) {
					t.Errorf("%s %s, call %d: exit %d: %s %s", agent.ID, event, fail, code, &out, &errs)
				}
			}
		}
	}
}

// broken panics on every use.
type broken struct{}

func (broken) Read([]byte) (int, error)  { panic("read") }
func (broken) Write([]byte) (int, error) { panic("write") }

var _ io.ReadWriter = broken{}

// brokenOnce panics on its first use.
type brokenOnce struct{ used bool }

func (b *brokenOnce) Write(text []byte) (int, error) {
	if !b.used {
		b.used = true
		panic("write")
	}
	return len(text), nil
}
