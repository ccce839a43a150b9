package txn_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/txn"
)

const lockPath = "SKILLPM_TEST_LOCK" // re-executed: take this lock and keep it

func holdLock(path string) int {
	if _, err := txn.Lock(context.Background(), path); err != nil {
		return 1
	}
	os.Stdout.WriteString("locked\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// TestLock proves that a lock excludes, that waiting for it can be ended, and that it dies with its holder.
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

// TestLockThroughLink proves that a link in the place of skillpm's directory has nothing created where it leads.
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
