package skill_test

import (
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill"
)

// FuzzJoin checks that Split is the inverse of Join.
func FuzzJoin(f *testing.F) {
	f.Add("a b", "", "it's")
	f.Add("$(x)", `\`, "\n")
	f.Add("--env", `"`, "ä=1")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		want := []string{a, b, c}
		if got := skill.SplitArguments(skill.JoinArguments(want)); !slices.Equal(got, want) {
			t.Errorf("%q becomes %s, and that %q", want, skill.JoinArguments(want), got)
		}
	})
}
