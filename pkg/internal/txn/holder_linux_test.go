package txn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// TestLockHolder checks that a waiter reports which process it waits for.
func TestLockHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	synctest.Test(t, func(t *testing.T) { testLockHolder(t, path) })
}

func testLockHolder(t *testing.T, path string) {
	t.Helper()
	unlock, err := txn.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var seen []string
	ctx = activity.With(ctx, func(e activity.Event) {
		seen = append(seen, e.Wait.Source)
		if e.Kind == activity.Began {
			cancel()
		}
	})
	if _, err := txn.Lock(ctx, path); err == nil {
		t.Error("two have the lock")
	}
	want := fmt.Sprintf("another skillpm process (pid %d)", os.Getpid())
	if len(seen) != 2 || seen[0] != want || seen[1] != want {
		t.Errorf("seen: %q, want its begin and its end, of %q", seen, want)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}
