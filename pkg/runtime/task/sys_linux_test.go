package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// placed is a task that waits for a runner, whose lock this process has.
func placed(t *testing.T, runner pack.Runner) (*Store, *Task, *lock) {
	t.Helper()
	s := Open(filepath.Join(t.TempDir(), "tasks"), Options{Now: time.Now})
	task, l, err := s.create(Request{Body: "x"}, runner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return s, task, l
}

// TestWrongNumber checks that a wrong process id in the runner's file ends no process.
func TestWrongNumber(t *testing.T) {
	s, task, _ := placed(t, pack.Runner{Command: []string{"true"}})
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = other.Process.Kill(), other.Wait() }()
	own := exec.Command("sleep", "1000")
	lock, err := os.Open(s.file(task.ID, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	own.ExtraFiles = []*os.File{lock}
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*exec.Cmd{other, own} {
		if err := os.WriteFile(s.file(task.ID, pidFile), []byte(strconv.Itoa(p.Process.Pid)), 0o600); err != nil {
			t.Fatal(err)
		}
		s.signal(task.ID, os.Kill)
	}
	if err := own.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the runner: %v", err)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("another process: %v", err)
	}
}

// TestFinishCancelled checks that the end of a task is reported whatever happened to its waiter, and that waiting for a
// lock that is never released ends.
func TestFinishCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "told.jsonl")
	s, task, _ := placed(t, pack.Runner{Command: []string{"true"}, Notify: pack.Notify{File: file}})
	s.finish(ctx, task)
	if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), task.ID) != 1 {
		t.Errorf("%q, %v", text, err)
	}
	unlock, err := lockBriefly(t.Context(), file+".lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockBriefly(ctx, file+".lock"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	unlock()
	if unlock, err = lockBriefly(t.Context(), file+".lock"); err != nil {
		t.Fatal(err)
	}
	unlock()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := appendLine(t.Context(), pipe, nil); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a pipe: %v", err)
	}
}

// TestLook checks that Current changes nothing: a task without a runner becomes lost, and is reported, only when it is
// requested.
func TestLook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "told.jsonl")
	s, task, l := placed(t, pack.Runner{Command: []string{"true"}, Notify: pack.Notify{File: file}})
	l.close()
	if err := os.WriteFile(filepath.Join(s.dir, "no-task"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.Current(); len(got) != 1 || got[0].ID != task.ID || got[0].State != Queued {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it was told")
	}
	if got, _, err := s.List(t.Context()); err != nil || len(got) != 1 || got[0].State != Lost {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// TestSweepExec sweeps processes that constantly run execve, during which a process shows no environment.
func TestSweepExec(t *testing.T) {
	id := NewID(time.Now()) // of this process only
	script := filepath.Join(t.TempDir(), "again.sh")
	if err := os.WriteFile(script, []byte("exec /bin/sh \"$0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var list []*exec.Cmd
	for range 12 {
		cmd := exec.Command("/bin/sh", script)
		cmd.Env = []string{"SKILLPM_TASK_ID=" + id}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		list = append(list, cmd)
	}
	sweep(id)
	for _, cmd := range list {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		if err != nil || !strings.Contains(string(state), ") Z ") {
			t.Errorf("process %d is not a zombie: %s, %v", cmd.Process.Pid, state, err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
