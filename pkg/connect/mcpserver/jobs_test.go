package mcpserver

import (
	"context"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// TestKept checks that a result is kept for the full time after the end of the script, however long the script ran, and
// is then removed.
func TestKept(t *testing.T) {
	clock := time.Unix(0, 0)
	js := newJobs(t.Context(), func() time.Time { return clock })
	begin := func() *job {
		t.Helper()
		j, err := js.start("s", func(context.Context, *job) (*session.RunResult, error) {
			clock = clock.Add(2 * jobRetention)
			return &session.RunResult{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		<-j.done
		return j
	}
	first := begin()
	clock = clock.Add(jobRetention)
	second := begin()
	if js.find("s", first.handle) == nil {
		t.Error("what ran for long was forgotten as soon as another began")
	}
	begin()
	if js.find("s", first.handle) != nil || js.find("s", second.handle) == nil {
		t.Error("what nobody asked for is not forgotten in its turn")
	}
}

// TestJobPanics checks that a panic of a job is an error of that job.
func TestJobPanics(t *testing.T) {
	js := newJobs(t.Context(), time.Now)
	j, err := js.start("s", func(context.Context, *job) (*session.RunResult, error) { panic("a mistake") })
	if err != nil {
		t.Fatal(err)
	}
	if <-j.done; diag.CodeOf(j.err) != diag.Internal {
		t.Errorf("it ended with %v", j.err)
	}
}
