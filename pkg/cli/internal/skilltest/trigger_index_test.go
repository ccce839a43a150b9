package skilltest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/cli/internal/evalfile"
)

// TestOneIndex checks that all queries of a skill search one index.
func TestOneIndex(t *testing.T) {
	dir := t.TempDir()
	text := "---\nname: garden\ndescription: Waters plants.\n---\nx\n"
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := newListing(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		var r Result
		if err := l.check(evalfile.Query{Prompt: "water my plants", ShouldTrigger: true}, &r); err != nil || r.Outcome != Passed {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	check()
	first := l.finder
	if check(); l.finder != first {
		t.Error("the second query has another index")
	}
}
