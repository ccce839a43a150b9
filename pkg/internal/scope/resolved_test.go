package scope_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// TestResolved: links are followed as far as there is something, and the rest stays as it is.
func TestResolved(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here:", err)
	}
	for given, want := range map[string]string{
		"real": "real", "link": "real", "link/gone/deep": "real/gone/deep", "gone": "gone",
	} {
		if got := scope.Resolved(filepath.Join(dir, filepath.FromSlash(given))); got != filepath.Join(dir, filepath.FromSlash(want)) {
			t.Errorf("%s leads to %s, want %s", given, got, want)
		}
	}
}
