//go:build unix

package git

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Environment variables that tell the child process what to fetch and where to put it.
const (
	childURL   = "SKILLPM_TEST_CHILD_URL"
	childCache = "SKILLPM_TEST_CHILD_CACHE"
)

// TestTooManyOpenFiles checks M2, faults of this machine: with too few allowed open files, a fetch fails at any point
// with a clear error. It leaves nothing incomplete in the cache: a later fetch with enough files works. The limit
// applies to a process, so a child process runs the fetch.
func TestTooManyOpenFiles(t *testing.T) {
	if url := os.Getenv(childURL); url != "" {
		withFewFiles(t, url, os.Getenv(childCache))
		return
	}
	dir := t.TempDir()
	gittest.New(t, dir, "o/r.git").Commit(gittest.Text(map[string]string{"SKILL.md": gittest.Skill("r", "R."), "a": "a", "b": "b"}))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTooManyOpenFiles$", "-test.v")
	cmd.Env = append(os.Environ(), childURL+"="+gittest.Serve(t, dir, gittest.WithFilter())+"/o/r.git", childCache+"="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "failed with") {
		t.Errorf("%v: %s", err, out)
	}
}

func withFewFiles(t *testing.T, url, cache string) {
	ref := pack.Ref{Kind: pack.KindGit, URL: url}
	var enough syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &enough); err != nil {
		t.Fatal(err)
	}
	first := New(Options{Cache: cache + "/first"}) // the runtime opens its own files now
	if err := fetchFrom(t, first, ref); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for more := range 12 {
		few := enough
		few.Cur = 3 + uint64(more) //nolint:gosec // small
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		c := New(Options{Cache: cache + "/" + strconv.Itoa(more)})
		err := fetchFrom(t, c, ref)
		_ = c.Close() // its error does not matter here
		if err2 := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &enough); err2 != nil {
			t.Fatal(err2)
		}
		if err != nil {
			if failed++; !strings.Contains(err.Error(), "too many open files") {
				t.Errorf("with %d files: %v", few.Cur, err)
			}
		}
		c = New(Options{Cache: cache + "/" + strconv.Itoa(more)})
		if err := fetchFrom(t, c, ref); err != nil {
			t.Errorf("after %d files: %v", few.Cur, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("failed with %d of 12 limits", failed)
	if failed < 2 {
		t.Error("the limits were of no effect")
	}
}
