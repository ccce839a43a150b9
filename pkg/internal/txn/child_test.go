package txn_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/txn"
)

const (
	childRoot = "SKILLPM_TEST_CHILD_ROOT" // re-executed: work there …
	childDo   = "SKILLPM_TEST_CHILD_DO"   // … and do this
)

// Exit codes of a child.
const (
	childDone   = 0
	childFailed = 4 // with an error
	childStuck  = 5 // with an error and a transaction to recover
)

// child runs an operation in a scope, on one thread, so that its system calls can be counted.
func child(root, do string) int {
	runtime.LockOSThread()
	var err error
	switch kind, arg, _ := strings.Cut(do, " "); kind {
	case "install":
		err = install(options(root, nil))
	case "rollback": // fails at the last step
		err = install(options(root, func(step string) error {
			if step == "applied" {
				return errors.New("boom")
			}
			return nil
		}))
	case "recover":
		_, err = txn.Recover(options(root, nil))
	case "signal":
		err = signalled(root, arg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if _, err := os.Lstat(filepath.Join(options(root, nil).Dir, "journal")); err == nil {
			return childStuck
		}
		return childFailed
	}
	return childDone
}

// signalled runs an install and receives a signal at one of the steps. It aborts unless the commit has begun.
func signalled(root, arg string) error {
	name, number, _ := strings.Cut(arg, " ")
	sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}[name]
	at, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), sig)
	defer stop()
	committing := false
	return install(options(root, func(step string) error {
		if at--; at == -1 {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Signal(sig)
			}
			if err != nil {
				return err
			}
			<-ctx.Done()
		}
		if committing = committing || step == "prepare"; committing {
			return nil
		}
		return ctx.Err()
	}))
}

// run runs an operation in a child process, below the given command if there is one, and returns its exit code: -1 if
// it was killed.
func run(t testing.TB, root, do string, below ...string) int {
	t.Helper()
	args := append(below, os.Args[0])
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), childRoot+"="+root, childDo+"="+do)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	if code != childDone && code != childFailed && code != childStuck && code != -1 {
		t.Fatalf("%s ended with %d: %s", do, code, out)
	}
	return code
}

// checkSettled recovers a scope, checks that it is completely old or completely new, and returns which.
func checkSettled(t testing.TB, root, what string) (isNew bool) {
	t.Helper()
	return settledBut(t, root, what, nil)
}

// settledBut is settled without the files that ignore reports.
func settledBut(t testing.TB, root, what string, ignore func(name, content string) bool) (isNew bool) {
	t.Helper()
	if _, err := txn.Recover(options(root, nil)); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got := read(t, root)
	if ignore != nil {
		maps.DeleteFunc(got, ignore)
	}
	isNew = got["skillpm.lock"] == after["skillpm.lock"]
	want := before
	if isNew {
		want = after
	}
	same(t, what, got, want)
	return isNew
}

// TestSignals sends a real signal at each step: before the commit point the old state stays, after it the new one does.
func TestSignals(t *testing.T) { // M2
	if runtime.GOOS == "windows" {
		t.Skip("a process can't send itself signals there")
	}
	names := steps(t, memory(t))
	for i, name := range names {
		for _, sig := range []string{"INT", "TERM"} {
			if sig == "TERM" && i%5 != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%02d %s %s", i, sig, strings.ReplaceAll(name, "/", ":")), func(t *testing.T) {
				t.Parallel()
				root := memory(t)
				write(t, root, before)
				early := strings.HasPrefix(name, "stage ") || name == "begin"
				code := run(t, root, fmt.Sprint("signal ", sig, " ", i))
				if _, err := os.Lstat(filepath.Join(root, ".skillpm", "journal")); err == nil {
					t.Error("something is left to be recovered")
				}
				if isNew := checkSettled(t, root, name); isNew == early || (code == childFailed) != early {
					t.Errorf("exit code %d, new state %v", code, isNew)
				}
			})
		}
	}
}
