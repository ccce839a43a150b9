//go:build unix

package task_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/task"
)

// TestMain runs a task if this program was started for one, like skillpm task run-one.
func TestMain(m *testing.M) {
	if len(os.Args) != 4 || !slices.Equal(os.Args[1:3], task.RunOne()) {
		os.Exit(m.Run())
	}
	dir := os.Args[3]
	log := audit.Open(filepath.Join(filepath.Dir(dir), "..", "audit.jsonl"), audit.Options{Now: time.Now})
	s := task.Open(filepath.Dir(dir), task.Options{Now: time.Now, Audit: func(string) *audit.Log { return log }})
	if err := s.Run(context.Background(), filepath.Base(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// fixture is a store whose tasks run with sh.
type fixture struct {
	testing.TB
	*task.Store
	dir     string // what the tests' tasks may use
	store   string
	runners map[string]pack.Runner
	options task.Options
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	w := &fixture{TB: t, dir: t.TempDir(), runners: map[string]pack.Runner{}}
	w.store = filepath.Join(w.dir, "state", "tasks")
	w.options = task.Options{
		Runner: func(kind string) (pack.Runner, error) {
			return (&pack.Config{Path: "config.yaml", Runners: w.runners}).Runner(kind)
		},
		Self: append([]string{os.Args[0]}, task.RunOne()...),
		Now:  time.Now,
	}
	w.Store = task.Open(w.store, w.options)
	return w
}

// sh makes a shell run the tasks of the default type. The text gets w.dir as $1.
func (w *fixture) sh(text string) *fixture {
	r := w.runners[pack.DefaultRunner]
	r.Command = []string{"/bin/sh", "-c", text, "sh", w.dir}
	w.runners[pack.DefaultRunner] = r
	return w
}

func (w *fixture) submit(r task.Request) *task.Task {
	w.Helper()
	if r.Body == "" {
		r.Body = "Do it."
	}
	t, err := w.Submit(w.Context(), r)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_, _ = w.Cancel(context.Background(), t.ID)
		if f, err := os.Open(filepath.Join(w.Dir(t.ID), "lock")); err == nil { // its runner may still notify
			_ = syscall.Flock(int(f.Fd()), syscall.LOCK_SH)
			_ = f.Close()
		}
	})
	return t
}

// waitEnded waits for a task and requires its state.
func (w *fixture) waitEnded(id string, want task.State) *task.Task {
	w.Helper()
	t, err := w.Wait(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	if t.State != want {
		errs, _ := w.Errors(id)
		w.Fatalf("task is %s (%s), want %s\n%s", t.State, t.Reason, want, errs)
	}
	return t
}

func (w *fixture) output(id string) string {
	w.Helper()
	out, err := w.Store.Output(id)
	if err != nil {
		w.Fatal(err)
	}
	return string(out)
}

// fifo creates a named pipe in w.dir. Opening it waits for the other side.
func (w *fixture) fifo(name string) string {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

// line reads a line of a pipe that another process opens, and returns the pipe.
func (w *fixture) line(path string) (string, *os.File) {
	w.Helper()
	f, err := os.Open(path)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = f.Close() })
	text, err := bufio.NewReaderSize(f, 16).ReadString('\n')
	if err != nil {
		w.Fatal(err)
	}
	return strings.TrimSpace(text), f
}

func (w *fixture) lines(name string) []string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// TestP10O11Isolation checks SPEC P10, O11: a task gets only the skill's text, and its output and exit code are
// returned.
func TestP10O11Isolation(t *testing.T) {
	w := newFixture(t).sh(`cat; echo "--"; env | sort; echo "--"; pwd; ls -A; echo "to stderr" >&2; touch left-behind`)
	w.options.Env = append(os.Environ(), "SKILLPM_SESSION=the-conversation", "SECRET_TOKEN=hunter2", "API_KEY=k1", "SKILLPM_PROFILE=pegasus")
	w.Store = task.Open(w.store, w.options)
	r := w.runners[pack.DefaultRunner]
	r.Env = []string{"API_KEY", "LEVEL=warn", "NOT_THERE"}
	w.runners[pack.DefaultRunner] = r
	body := "# Steps\n\n1. one\x00two\xff\r\n"
	job := w.submit(task.Request{Skill: "release", Pack: "acme/tools", Dir: "/skills/release", Model: "opus", Project: w.dir, Body: body})
	if job.State != task.Queued || !task.IsID(job.ID) || job.Agent != "general" {
		t.Errorf("%+v", job)
	}
	done := w.waitEnded(job.ID, task.Succeeded)
	in, rest, _ := strings.Cut(w.output(job.ID), "--\n")
	env, where, _ := strings.Cut(rest, "--\n")
	if in != body {
		t.Errorf("the task read %q", in)
	}
	var names []string
	for line := range strings.Lines(env) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	for _, line := range []string{
		"API_KEY=k1\n", "LEVEL=warn\n", "SKILLPM_TASK_ID=" + job.ID + "\n", "SKILL_NAME=release\n", "SKILL_DIR=/skills/release\n", "SKILLPM_MODEL=opus\n",
	} {
		if !strings.Contains(env, line) {
			t.Errorf("the task lacks %s", line)
		}
	}
	for _, bad := range []string{"SKILLPM_SESSION", "SECRET_TOKEN", "SKILLPM_PROFILE", "NOT_THERE"} {
		if slices.Contains(names, bad) {
			t.Errorf("the task has %s", bad)
		}
	}
	if strings.Contains(rest, "hunter2") || strings.Contains(rest, "the-conversation") {
		t.Errorf("a secret of the parent's: %s", rest)
	}
	// its own empty directory, which is removed
	if dir := strings.TrimSpace(where); dir != filepath.Join(w.Dir(job.ID), "work") {
		t.Errorf("it works in %q", where)
	} else if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is still there: %v", err)
	}
	if errs, err := w.Errors(job.ID); err != nil || string(errs) != "to stderr\n" {
		t.Errorf("%q, %v", errs, err)
	}
	if done.ExitCode == nil || *done.ExitCode != 0 || done.Started == nil || done.Ended == nil || done.OutputBytes != int64(len(w.output(job.ID))) {
		t.Errorf("%+v", done)
	}
	// only the owner can read it
	err := filepath.WalkDir(w.store, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v (%v)", path, info.Mode(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestP10Notified checks SPEC P10: the end is reported once, with the result, and is in the audit log.
func TestP10Notified(t *testing.T) {
	w := newFixture(t).sh(`echo the result; exit 3`)
	r := w.runners[pack.DefaultRunner]
	r.Notify = pack.Notify{
		Command: []string{"/bin/sh", "-c", `cat >>"$1/told"; env >"$1/told.env"`, "sh", w.dir},
		File:    filepath.Join(w.dir, "inbox", "tasks.jsonl"),
	}
	w.runners[pack.DefaultRunner] = r
	job := w.submit(task.Request{Skill: "release"})
	waitEnded := make(chan *task.Task, 2)
	w.OnEnd(t.Context(), job.ID, func(got *task.Task, err error) {
		if err != nil {
			t.Error(err)
		}
		waitEnded <- got
	})
	w.waitEnded(job.ID, task.Failed)
	if got := <-waitEnded; got.ID != job.ID || got.State != task.Failed {
		t.Errorf("%+v", got)
	}
	for range 3 {
		if _, err := w.Find(t.Context(), job.ID); err != nil {
			t.Error(err)
		}
		if got, err := w.Cancel(t.Context(), job.ID); err != nil || got.State != task.Failed {
			t.Errorf("%+v, %v", got, err)
		}
	}
	for _, name := range []string{"told", "inbox/tasks.jsonl"} {
		lines := w.lines(name)
		var n struct {
			ID, State, Skill, Output, Reason string
			ExitCode                         int
		}
		if len(lines) != 1 || json.Unmarshal([]byte(lines[0]), &n) != nil {
			t.Fatalf("%s: %q", name, lines)
		}
		if n.ID != job.ID || n.State != "failed" || n.Skill != "release" || n.Output != "the result\n" || n.ExitCode != 3 || n.Reason == "" {
			t.Errorf("%s: %+v", name, n)
		}
	}
	if env := strings.Join(w.lines("told.env"), "\n"); strings.Contains(env, "SKILLPM_SESSION") || !strings.Contains(env, "SKILLPM_TASK_ID="+job.ID) {
		t.Errorf("the environment of the notification is %s", env)
	}
	log := strings.Join(w.lines("state/audit.jsonl"), "\n")
	for _, want := range []string{`"action":"task-end"`, `"result":"failed"`, `"skill":"release"`, `"exit_code":3`, `"task":"` + job.ID + `"`} {
		if strings.Count(log, want) != 1 {
			t.Errorf("the audit log lacks %s: %s", want, log)
		}
	}
}

// TestTwentyAtOnce checks that twenty concurrent tasks have different ids, all end, and are all reported.
func TestTwentyAtOnce(t *testing.T) {
	w := newFixture(t).sh(`cat`)
	r := w.runners[pack.DefaultRunner]
	r.Notify.File = filepath.Join(w.dir, "tasks.jsonl")
	w.runners[pack.DefaultRunner] = r
	var (
		wg  sync.WaitGroup
		mu  sync.Mutex
		ids []string
	)
	for i := range 20 {
		wg.Go(func() {
			job, err := w.Submit(t.Context(), task.Request{Body: "task " + strconv.Itoa(i)})
			if err != nil {
				t.Error(err)
				return
			}
			got, err := w.Wait(t.Context(), job.ID)
			if err != nil || got.State != task.Succeeded {
				t.Errorf("%+v, %v", got, err)
			}
			if out, err := w.Store.Output(job.ID); err != nil || string(out) != "task "+strconv.Itoa(i) {
				t.Errorf("%q, %v", out, err)
			}
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, job.ID)
		})
	}
	wg.Wait()
	slices.Sort(ids)
	list, problems, err := w.List(t.Context())
	if err != nil || len(problems) > 0 || len(list) != 20 || len(slices.Compact(ids)) != 20 {
		t.Fatalf("%d tasks, %v, %v", len(list), problems, err)
	}
	for i, got := range list {
		if got.ID != ids[len(ids)-1-i] {
			t.Errorf("number %d of the list is %s", i, got.ID)
		}
	}
	var notices []string
	for _, line := range w.lines("tasks.jsonl") {
		var n task.Notification
		if err := json.Unmarshal([]byte(line), &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		notices = append(notices, n.ID)
	}
	if slices.Sort(notices); !slices.Equal(notices, ids) {
		t.Errorf("told of %q", notices)
	}
}

// TestLost checks SPEC P10: a task whose runner was killed is lost, even if another process has its process id. Its
// child processes end, and its end is reported once, to any number of readers.
func TestLost(t *testing.T) {
	w := newFixture(t)
	alive := w.fifo("alive")
	w.sh(`sh -c 'echo ready; exec sleep 600' >"$1/alive" & wait`)
	r := w.runners[pack.DefaultRunner]
	r.Notify.File = filepath.Join(w.dir, "tasks.jsonl")
	w.runners[pack.DefaultRunner] = r
	job := w.submit(task.Request{})
	_, grandchild := w.line(alive)
	if got, err := w.Find(t.Context(), job.ID); err != nil || got.State != task.Running {
		t.Fatalf("%+v, %v", got, err)
	}
	file := filepath.Join(w.Dir(job.ID), "pid")
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := strconv.Atoi(string(pid))
	if err != nil {
		t.Fatal(err)
	}
	// a waiter is notified without polling
	waited := make(chan *task.Task, 1)
	w.OnEnd(t.Context(), job.ID, func(got *task.Task, err error) {
		if err != nil {
			t.Error(err)
		}
		waited <- got
	})
	if err := syscall.Kill(runner, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := <-waited; got == nil || got.State != task.Lost {
		t.Fatalf("%+v", got)
	}
	// the process id belongs to another process now: this one
	if err := os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := w.Find(t.Context(), job.ID)
			if err != nil || got.State != task.Lost || got.Ended == nil || got.Reason == "" {
				t.Errorf("%+v, %v", got, err)
			}
			if got, err := w.Cancel(t.Context(), job.ID); err != nil || got.State != task.Lost {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	wg.Wait()
	if lines := w.lines("tasks.jsonl"); len(lines) != 1 || !strings.Contains(lines[0], `"state":"lost"`) {
		t.Errorf("%q", lines)
	}
	if _, err := os.Stat("/proc/self/environ"); err == nil {
		_, _ = io.Copy(io.Discard, grandchild) // ends when the last process that can write to it has
	}
}

// TestCancel checks SPEC P10: canceling ends all processes of a task, including those that left its group, and can be
// repeated.
func TestCancel(t *testing.T) {
	w := newFixture(t)
	alive := w.fifo("alive")
	w.sh(`(setsid sh -c 'trap "" TERM; echo ready; sleep 600; sleep 600' >"$1/alive" & sleep 600 >"$1/alive" & wait) & wait`)
	r := w.runners[pack.DefaultRunner]
	r.Notify.File = filepath.Join(w.dir, "tasks.jsonl")
	w.runners[pack.DefaultRunner] = r
	job := w.submit(task.Request{})
	_, grandchildren := w.line(alive)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if got, err := w.Cancel(t.Context(), job.ID); err != nil || got.State != task.Cancelled {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	wg.Wait()
	if _, err := io.Copy(io.Discard, grandchildren); err != nil {
		t.Error(err)
	}
	if got, err := w.Cancel(t.Context(), job.ID); err != nil || got.State != task.Cancelled {
		t.Errorf("%+v, %v", got, err)
	}
	if lines := w.lines("tasks.jsonl"); len(lines) != 1 || !strings.Contains(lines[0], `"state":"cancelled"`) {
		t.Errorf("%q", lines)
	}
}

// TestCancelQueued checks that a task that is canceled before its runner starts does not run.
func TestCancelQueued(t *testing.T) {
	w := newFixture(t).sh(`touch "$1/ran"`)
	gate := w.fifo("gate")
	w.options.Self = []string{"/bin/sh", "-c", `read go <"` + gate + `"; exec "` + os.Args[0] + `" task run-one "$0"`}
	w.Store = task.Open(w.store, w.options)
	job := w.submit(task.Request{})
	if got, err := w.Find(t.Context(), job.ID); err != nil || got.State != task.Queued {
		t.Fatalf("%+v, %v", got, err)
	}
	// what Cancel does first; it then waits for the runner, which waits for the gate
	if err := os.WriteFile(filepath.Join(w.Dir(job.ID), "cancel"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gate, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Cancel(t.Context(), job.ID); err != nil || got.State != task.Cancelled || got.Started != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "ran")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it ran: %v", err)
	}
	// and no process runs it again
	if err := w.Run(t.Context(), job.ID); diag.CodeOf(err) != diag.Usage {
		t.Errorf("%v", err)
	}
}

// TestLostQueued checks that a runner that never starts is detected by its lock, too.
func TestLostQueued(t *testing.T) {
	w := newFixture(t).sh(`true`)
	w.options.Self = []string{"/bin/sh", "-c", "kill -9 $$"}
	w.Store = task.Open(w.store, w.options)
	w.waitEnded(w.submit(task.Request{}).ID, task.Lost)
}

func TestOutcomes(t *testing.T) {
	w := newFixture(t)
	w.runners["slow"] = pack.Runner{Command: []string{"/bin/sh", "-c", "echo partial; sleep 600"}, Limit: 300 * time.Millisecond}
	w.runners["failing"] = pack.Runner{Command: []string{"/bin/sh", "-c", "exit 7"}}
	w.runners["killed"] = pack.Runner{Command: []string{"/bin/sh", "-c", "kill -SEGV $$"}}
	w.runners["missing"] = pack.Runner{Command: []string{"no-such-agent"}}
	w.runners["here"] = pack.Runner{Command: []string{"/bin/sh", "-c", "pwd"}, Project: true}
	w.runners["much"] = pack.Runner{Command: []string{"/bin/sh", "-c", "head -c 6000000 /dev/zero"}}
	for _, tt := range []struct {
		agent  string
		state  task.State
		exit   int // -1 for none
		reason string
		output string
	}{
		{"slow", task.TimedOut, 143, "at the time limit", "partial\n"},
		{"failing", task.Failed, 7, "exited with code 7", ""},
		{"killed", task.Failed, 139, "SIGSEGV", ""},
		{"missing", task.Failed, -1, "no-such-agent is not installed", ""},
		{"here", task.Succeeded, 0, "", w.dir + "\n"},
	} {
		got := w.waitEnded(w.submit(task.Request{Agent: tt.agent, Project: w.dir}).ID, tt.state)
		exit := -1
		if got.ExitCode != nil {
			exit = *got.ExitCode
		}
		if exit != tt.exit || !strings.Contains(got.Reason, tt.reason) || tt.reason == "" && got.Reason != "" || w.output(got.ID) != tt.output {
			t.Errorf("%s: %+v, exit %d, output %q", tt.agent, got, exit, w.output(got.ID))
		}
	}
	got := w.waitEnded(w.submit(task.Request{Agent: "much"}).ID, task.Succeeded)
	if out := w.output(got.ID); !got.Truncated || got.OutputBytes != 6_000_000 || len(out) > task.MaxOutput+100 || !strings.Contains(out, "bytes omitted") {
		t.Errorf("%+v, %d bytes", got, len(out))
	}
	if n, err := w.Notification(got); err != nil || len(n.Output) > 16<<10 || !n.Cut {
		t.Errorf("%d bytes, %v", len(n.Output), err)
	}
}

func TestSubmitRefuses(t *testing.T) {
	w := newFixture(t)
	w.runners["here"] = pack.Runner{Command: []string{"pwd"}, Project: true}
	for _, tt := range []struct {
		r    task.Request
		code diag.Code
		hint string
	}{
		{task.Request{Body: "x"}, diag.NotFound, "runners:\n  general:\n    command: ["},
		{task.Request{Body: "x", Agent: "explore"}, diag.NotFound, "runners:\n  explore:\n    command: ["},
		{task.Request{Body: " \n", Agent: "here"}, diag.Invalid, ""},
		{task.Request{Body: strings.Repeat("x", task.MaxBody+1), Agent: "here"}, diag.Invalid, ""},
		{task.Request{Body: "x", Agent: "here"}, diag.Usage, "directory: project"},
	} {
		if _, err := w.Submit(t.Context(), tt.r); diag.CodeOf(err) != tt.code || !strings.Contains(diag.HintOf(err), tt.hint) {
			t.Errorf("%v: %v (%s)", tt.r.Agent, err, diag.HintOf(err))
		}
	}
	if list, _, err := w.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	// a process that cannot be started leaves no files
	w.options.Self = []string{filepath.Join(w.dir, "missing")}
	w.sh("true").Store = task.Open(w.store, w.options)
	if _, err := w.Submit(t.Context(), task.Request{Body: "x"}); err == nil {
		t.Error("no error")
	}
	// skillpm runs tasks, and never the program that submits them
	t.Setenv("PATH", w.dir)
	w.options.Self = nil
	w.Store = task.Open(w.store, w.options)
	if _, err := w.Submit(t.Context(), task.Request{Body: "x"}); err == nil || !strings.Contains(err.Error(), `"skillpm"`) {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(w.store); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestWaitEnds checks that a waiter can leave without an effect on the task.
func TestWaitEnds(t *testing.T) {
	w := newFixture(t)
	gate := w.fifo("gate")
	w.sh(`read go <"$1/gate"; echo "$go"`)
	job := w.submit(task.Request{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := w.Wait(ctx, job.ID); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(gate, []byte("went on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.waitEnded(job.ID, task.Succeeded)
	if out := w.output(job.ID); out != "went on\n" {
		t.Errorf("%q", out)
	}
	for _, id := range []string{"", "..", "../../etc", "20261122-162300-123-k3f9q2m7xwabc"} {
		if _, err := w.Wait(t.Context(), id); diag.CodeOf(err) != diag.NotFound {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := w.Store.Output(id); id != "20261122-162300-123-k3f9q2m7xwabc" && diag.CodeOf(err) != diag.NotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestDamaged checks that damaged tasks are reported, and hide no others.
func TestDamaged(t *testing.T) {
	w := newFixture(t).sh("true")
	good := w.submit(task.Request{})
	w.waitEnded(good.ID, task.Succeeded)
	bad := w.submit(task.Request{})
	w.waitEnded(bad.ID, task.Succeeded)
	file := filepath.Join(w.Dir(bad.ID), "state.json")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", "null", "[]", string(whole[:len(whole)/2]), string(whole) + "{}",
		strings.Replace(string(whole), `"version":1`, `"version":2`, 1),
		strings.Replace(string(whole), `"version":1`, `"version":1,"more":1`, 1),
		strings.Replace(string(whole), bad.ID, good.ID, 1),
		strings.Replace(string(whole), "succeeded", "glorious", 1),
		strings.Repeat(" ", 2<<20),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := w.Find(t.Context(), bad.ID); diag.CodeOf(err) != diag.Invalid {
			t.Errorf("%.80q: %+v, %v", text, got, err)
		}
		list, problems, err := w.List(t.Context())
		if err != nil || len(list) != 1 || list[0].ID != good.ID || len(problems) != 1 {
			t.Errorf("%.80q: %v, %v, %v", text, list, problems, err)
		}
	}
}

// TestKeep checks that a submission removes tasks that ended a month ago, and keeps running ones.
func TestKeep(t *testing.T) {
	w := newFixture(t)
	gate := w.fifo("gate")
	w.runners["slow"] = pack.Runner{Command: []string{"/bin/sh", "-c", `read go <"` + gate + `"`}}
	w.sh("true")
	old := w.submit(task.Request{})
	w.waitEnded(old.ID, task.Succeeded)
	damaged := w.submit(task.Request{})
	w.waitEnded(damaged.ID, task.Succeeded)
	if err := os.WriteFile(filepath.Join(w.Dir(damaged.ID), "state.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	slow := w.submit(task.Request{Agent: "slow"})
	for _, name := range []string{".old-" + old.ID, ".new-" + old.ID, "notes"} {
		if err := os.Mkdir(filepath.Join(w.store, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.options.Now = func() time.Time { return time.Now().Add(task.Keep + time.Hour) }
	w.Store = task.Open(w.store, w.options)
	fresh := w.submit(task.Request{})
	if _, err := w.Find(t.Context(), old.ID); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("%v", err)
	}
	if got, err := w.Find(t.Context(), slow.ID); err != nil || got.State.Ended() {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(gate, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.waitEnded(slow.ID, task.Succeeded)
	w.waitEnded(fresh.ID, task.Succeeded)
	var names []string
	entries, err := os.ReadDir(w.store)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{slow.ID, fresh.ID, "notes"}
	if slices.Sort(want); err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
}

// FuzzState checks that reading any bytes as a task's state is safe, and that a valid state is written unchanged.
func FuzzState(f *testing.F) {
	const id = "20261122-162300-123-k3f9q2m7xwabc"
	f.Add([]byte(`{"version":1,"id":"` + id + `","state":"succeeded","agent":"general","created":"2026-11-22T16:23:00Z","ended":"2026-11-22T16:23:01Z","outputBytes":3}`))
	f.Add([]byte(`{"version":1,"id":"` + id + `","state":"running","agent":"","created":"2026-11-22T16:23:00Z","outputBytes":0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, id), 0o700); err != nil {
			t.Fatal(err)
		}
		// reported, and with a free lock
		for name, text := range map[string][]byte{"state.json": data, "notified": nil, "lock": nil} {
			if err := os.WriteFile(filepath.Join(dir, id, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := task.Open(dir, task.Options{Now: time.Now}).Find(t.Context(), id)
		if err != nil {
			return
		}
		if got.ID != id || !got.State.Ended() || got.Ended == nil {
			t.Errorf("%+v", got)
		}
		var again bytes.Buffer
		if err := json.NewEncoder(&again).Encode(got); err != nil {
			t.Error(err)
		}
	})
}
