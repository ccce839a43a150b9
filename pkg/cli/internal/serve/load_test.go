package serve

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill"
)

// FuzzJoinArguments checks that a skill receives its exact arguments, whatever they contain.
func FuzzJoinArguments(f *testing.F) {
	for _, text := range []string{"a|b", "a b|c", "it's|\"x\"", "|", `\|\\`, "$0|$(x)", "--x|-y", "a\nb|\tc", "'|'", "ä|€"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "|")
		if len(args) == 1 {
			args = append(args, "x")
		}
		if got := skill.SplitArguments(joinArguments(args)); !slices.Equal(got, args) {
			t.Errorf("%q becomes %q, which is %q", args, joinArguments(args), got)
		}
	})
}

// TestJoinOneArgument checks that a single argument is passed unchanged, like a model or a user wrote it.
func TestJoinOneArgument(t *testing.T) {
	if got := joinArguments([]string{`PR 42 "now"`}); got != `PR 42 "now"` {
		t.Errorf("%q", got)
	}
	if got := joinArguments(nil); got != "" {
		t.Errorf("%q", got)
	}
}
