//go:build slow

package git_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
)

// TestContractInFull runs the whole contract also for sources that only transfer packs in another way than those of
// which TestContract runs all.
func TestContractInFull(t *testing.T) {
	for _, name := range []string{"subdirectory", "filter", "program"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sourcetest.Run(t, contractSources()[name])
		})
	}
}

// TestHostileTreesInFull fetches all trees of TestHostileTrees with the git program.
func TestHostileTreesInFull(t *testing.T) {
	r, tests := hostileTrees(t)
	tryHostileTrees(t, r, "program", tests)
}
