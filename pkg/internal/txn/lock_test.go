package txn_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

const (
	lockPath  = "SKILLPM_TEST_LOCK"       // in a child: take this lock and keep it …
	lockCount = "SKILLPM_TEST_LOCK_COUNT" // … or, if this is set, count in this file while holding it
)

func holdLock(path string) int {
	if file := os.Getenv(lockCount); file != "" {
		for range 5 {
			if err := countUp(path, file); err != nil {
				os.Stderr.WriteString(err.Error() + "\n")
				return 1
			}
		}
		return 0
	}
	if _, err := txn.Lock(context.Background(), path); err != nil {
		return 1
	}
	os.Stdout.WriteString("locked\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// TestLock checks that a lock excludes others, that waiting can be canceled, and that the lock ends with its process.
func TestLock(t *testing.T) { // M2
	path := filepath.Join(t.TempDir(), "deep", "lock")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), lockPath+"="+path)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := txn.Lock(ctx, path); diag.CodeOf(err) != diag.Interrupted {
		t.Errorf("while it is held: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for range 2 {
		unlock, err := txn.Lock(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
}

// countUp increments the number in a file, in steps that another process could interleave with.
func countUp(path, file string) (err error) {
	unlock, err := txn.Lock(context.Background(), path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o644)
}

// TestLockContention makes 20 processes contend for a lock whose holder is killed.
func TestLockContention(t *testing.T) { // M2
	path, file := filepath.Join(t.TempDir(), "lock"), filepath.Join(t.TempDir(), "count")
	if err := os.WriteFile(file, []byte("0"), 0o644); err != nil {
		t.Fatal(err)
	}
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), lockPath+"="+path)
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	var all []*exec.Cmd
	for range 20 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), lockPath+"="+path, lockCount+"="+file)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "0" {
		t.Errorf("while it is held they counted to %q, %v", data, err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // it was killed
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "100" {
		t.Errorf("they counted to %q, %v, want 100", data, err)
	}
}

// TestLockNotice checks that a waiter reports the wait once, after a second, and nothing without waiting.
func TestLockNotice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	synctest.Test(t, func(t *testing.T) {
		var began, ended atomic.Int32
		ctx := activity.With(t.Context(), func(e activity.Event) {
			switch e.Kind {
			case activity.Began:
				began.Add(1)
			case activity.Ended:
				ended.Add(1)
			}
		})
		unlock, err := txn.Lock(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			unlock, err := txn.Lock(ctx, path)
			if err == nil {
				err = unlock()
			}
			done <- err
		}()
		for _, step := range []struct {
			wait time.Duration
			want int32
		}{{0, 0}, {time.Second - 1, 0}, {1, 1}, {time.Minute, 1}} {
			time.Sleep(step.wait) // in the time of the test
			synctest.Wait()
			if began.Load() != step.want || ended.Load() != 0 {
				t.Errorf("after %v more: %d began and %d ended", step.wait, began.Load(), ended.Load())
			}
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil || ended.Load() != 1 {
			t.Errorf("%d ended: %v", ended.Load(), err)
		}
	})
}

func TestLockIsALink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	if err := os.Symlink(filepath.Join(dir, "other"), path); err != nil {
		t.Skipf("symbolic links are needed: %v", err)
	}
	if _, err := txn.Lock(context.Background(), path); diag.CodeOf(err) != diag.Denied {
		t.Errorf("got %v", err)
	}
}

// TestLockThroughLink checks that if skillpm's directory is a link, nothing is created at its target.
func TestLockThroughLink(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"full": other, "dangling": filepath.Join(dir, "nowhere")} {
		own := filepath.Join(dir, name)
		if err := os.Symlink(target, own); err != nil {
			t.Skipf("symbolic links are needed: %v", err)
		}
		_, err := txn.Lock(context.Background(), filepath.Join(own, "lock"))
		if diag.CodeOf(err) != diag.Denied || diag.HintOf(err) == "" {
			t.Errorf("%s: got %v, want Denied with a hint", name, err)
		}
	}
	if entries, err := os.ReadDir(other); err != nil || len(entries) != 0 {
		t.Errorf("created there: %v, %v", entries, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("the directory that a dangling link names was made")
	}
}
