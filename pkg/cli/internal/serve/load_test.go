package serve

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill"
)

// FuzzJoinArguments: a skill gets the arguments that were given, however they look.
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

// One argument is the text itself, as a model or a user wrote it.
func TestJoinOneArgument(t *testing.T) {
	if got := joinArguments([]string{`PR 42 "now"`}); got != `PR 42 "now"` {
		t.Errorf("%q", got)
	}
	if got := joinArguments(nil); got != "" {
		t.Errorf("%q", got)
	}
}
