//go:build slow

package txn_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// changing are the system calls of the package that change a scope.
var changing = []string{"mkdirat", "unlinkat", "symlinkat", "renameat", "renameat2", "fsync", "syncfs", "write"}

func needStrace(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(path, "-qq", "-o", os.DevNull, "true").Run()
	}
	if err != nil {
		if os.Getenv("SKILLPM_REQUIRE_STRACE") != "" {
			t.Fatalf("strace is required: %v", err)
		}
		t.Skipf("strace is needed, and may trace: %v", err)
	}
	return path
}

// stride returns the distance between two tested calls, so that the test tries no more than most of them, or every one
// if the environment requests that.
func stride(calls, most int) int {
	if os.Getenv("SKILLPM_REQUIRE_STRACE") != "" {
		return 1
	}
	return (calls + most - 1) / most
}

// straced runs a child with strace and options.
func straced(t testing.TB, strace, root, do string, options ...string) int {
	t.Helper()
	return run(t, root, do, append([]string{strace, "-f", "-qq"}, options...)...)
}

// calls counts the changing system calls of an operation in a scope that prepare creates.
func calls(t testing.TB, strace, do string, prepare func(testing.TB) string) map[string]int {
	t.Helper()
	log := filepath.Join(memory(t), "log")
	straced(t, strace, prepare(t), do, "-o", log, "-e", "trace="+strings.Join(changing, ","))
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	for line := range strings.Lines(string(data)) {
		_, call, _ := strings.Cut(line, " ")
		if name, _, ok := strings.Cut(strings.TrimSpace(call), "("); ok {
			counts[name]++
		}
	}
	return counts
}

// halfScope creates a scope with an install that died halfway.
func halfScope(t testing.TB) string {
	t.Helper()
	root := oldScope(t)
	crash(t, options(root, nil), "exchanged .skillpm/plugins/acme/deploy")
	return root
}

// TestStraceKill kills a process at each changing system call while it installs, rolls back, or recovers. The next
// process finds the old or the new state.
func TestStraceKill(t *testing.T) { // M2
	strace := needStrace(t)
	for _, tt := range []struct {
		do      string
		prepare func(testing.TB) string
	}{{"install", oldScope}, {"rollback", oldScope}, {"recover", halfScope}} {
		counts := calls(t, strace, tt.do, tt.prepare)
		if counts["renameat2"] == 0 || counts["renameat"] == 0 || counts["unlinkat"] == 0 {
			t.Fatalf("%s: counted %v", tt.do, counts)
		}
		for _, name := range changing {
			stride := stride(counts[name], 4)
			for n := 1; n <= counts[name]; n += stride {
				t.Run(fmt.Sprintf("%s %s %d", tt.do, name, n), func(t *testing.T) {
					t.Parallel()
					root := tt.prepare(t)
					inject := fmt.Sprintf("inject=%s:signal=KILL:when=%d", name, n)
					if code := straced(t, strace, root, tt.do, "-o", os.DevNull, "-e", "trace="+name, "-e", inject); code != -1 {
						t.Fatalf("it was not killed: %d", code)
					}
					isNew := checkSettled(t, root, "killed")
					if tt.do == "recover" && !isNew {
						t.Error("what was committed is gone")
					}
					if err := install(options(root, nil)); err != nil {
						t.Fatal(err)
					}
					same(t, "installed again", read(t, root), after)
				})
			}
		}
	}
}

// TestStraceErrors makes each system call fail once: an error means the old state, success the new one.
func TestStraceErrors(t *testing.T) { // M2
	strace := needStrace(t)
	counts := calls(t, strace, "install", oldScope)
	for _, tt := range []struct {
		call, err string
		atOnce    bool // the operation must fail
		sticks    bool // the journal may stay
	}{
		{"fsync", "EIO", false, false},
		{"syncfs", "EIO", true, false},
		{"write", "ENOSPC", true, false},
		{"write", "EDQUOT", true, false},
		{"renameat", "EXDEV", false, false},
		{"renameat", "EINVAL", false, false},
		{"renameat", "EIO", false, false},
		{"renameat2", "EXDEV", false, false},
		{"renameat2", "EINVAL", false, false},
		{"renameat2", "ENOSPC", false, false},
		{"symlinkat", "EROFS", true, false},
		{"symlinkat", "EACCES", true, false},
		{"mkdirat", "ENOSPC", false, false},
		{"unlinkat", "EIO", false, true},
	} {
		if counts[tt.call] == 0 {
			t.Fatalf("no %s: %v", tt.call, counts)
		}
		stride := stride(counts[tt.call], 3)
		for n := 1; n <= counts[tt.call]; n += stride {
			t.Run(fmt.Sprintf("%s %s %d", tt.call, tt.err, n), func(t *testing.T) {
				t.Parallel()
				root := oldScope(t)
				inject := fmt.Sprintf("inject=%s:error=%s:when=%d", tt.call, tt.err, n)
				code := straced(t, strace, root, "install", "-o", os.DevNull, "-e", "trace="+tt.call, "-e", inject)
				if code == -1 || tt.atOnce && code != childFailed {
					t.Fatalf("it ended with %d", code)
				}
				if code == childStuck && !tt.sticks {
					t.Error("it was not taken back")
				}
				// An empty directory that cannot be removed stays.
				ignore := func(_, content string) bool { return tt.call == "unlinkat" && content == "empty" }
				if isNew := settledBut(t, root, "failed", ignore); isNew == (code == childFailed) {
					t.Errorf("exit code %d, new state %v", code, isNew)
				}
				if err := install(options(root, nil)); err != nil {
					t.Fatal(err)
				}
				got := read(t, root)
				maps.DeleteFunc(got, ignore)
				same(t, "installed again", got, after)
			})
		}
	}
}

// TestStraceNoRename makes every move of a directory fail, as it does between file systems, on kernels without
// exchange, and on overlays. The directory is copied instead.
func TestStraceNoRename(t *testing.T) {
	strace := needStrace(t)
	for _, err := range []string{"EXDEV", "EINVAL", "ENOSYS"} {
		t.Run(err, func(t *testing.T) {
			root := oldScope(t)
			code := straced(t, strace, root, "install", "-o", os.DevNull, "-e", "trace=renameat2", "-e", "inject=renameat2:error="+err)
			if isNew := checkSettled(t, root, "installed"); !isNew || code != childDone {
				t.Errorf("exit code %d, new state %v", code, isNew)
			}
		})
	}
}
