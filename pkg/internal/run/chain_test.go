package run_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/run"
)

func TestChain(t *testing.T) {
	want := []run.Link{{run.Hook, "a"}, {run.Tasked, "b@acme/x"}, {run.Scripted, "odd, name: ü%"}, {run.Tasked, ""}}
	value := ""
	for _, l := range want {
		value = run.Extend(value, l)
	}
	if got := run.Chain(value); !slices.Equal(got, want) {
		t.Errorf("%q is %v", value, got)
	}
	if got := run.Chain(",%zz,hook:%zz"); len(got) != 2 || got[1] != (run.Link{run.Hook, ""}) {
		t.Errorf("%v", got)
	}
	for range 10_000 {
		value = run.Extend(value, run.Link{run.Text, "long" + strings.Repeat("x", 100)})
	}
	if got := run.Chain(value); len(value) > 8<<10 || len(got) < 50 {
		t.Errorf("%d bytes, %d links", len(value), len(got))
	}
}
