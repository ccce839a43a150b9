package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// countingGuard counts the policy checks of a skill, and denies it on request.
type countingGuard struct {
	session.Guard
	times int
	err   error
}

func (a *countingGuard) Activate(context.Context, *catalog.Loaded) ([]string, error) {
	a.times++
	return nil, a.err
}

// TestReadAll checks that policies, which scan a whole skill, are evaluated once for any number of its files.
func TestReadAll(t *testing.T) {
	w := newFixture(t, "toolset")
	w.skill("deploy", "", "x\n")
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("references/%d.md", i))
		w.file("project/skills/deploy/"+names[i], fmt.Sprint("number ", i))
	}
	guard := &countingGuard{}
	w.env.Guard = guard
	all, err := w.open("").ReadAll(t.Context(), "deploy", names)
	if err != nil || len(all) != len(names) || guard.times != 1 {
		t.Fatalf("%d files, the policies were asked %d times: %v", len(all), guard.times, err)
	}
	for i, f := range all {
		if f.Path != names[i] || string(f.Data) != fmt.Sprint("number ", i) {
			t.Errorf("%s is %q", f.Path, f.Data)
		}
	}
	all, err = w.open("").ReadAll(t.Context(), "deploy", []string{names[0], "../x", names[1]})
	if len(all) != 1 || diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), "../x") {
		t.Errorf("%d files, %v", len(all), err)
	}
	guard.err = diag.Errorf(diag.Denied, "it is denied")
	if all, err = w.open("").ReadAll(t.Context(), "deploy", names); len(all) != 0 || diag.CodeOf(err) != diag.Denied {
		t.Errorf("of a denied skill there are %d files, %v", len(all), err)
	}
}
