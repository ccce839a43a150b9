package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// TestEntriesOf checks that an inventory leads to the same entries as listing a directory with its files.
func TestEntriesOf(t *testing.T) {
	for _, names := range [][]string{
		{"SKILL.md"},
		{"SKILL.md", "a/b/c", "a/b.md", "a-b", "a.md", "z/1", "z/2", "é/x"},
		{"SKILL.md", `a"b`},
		{"SKILL.md", `"quoted`},
		{"SKILL.md", "a\tb"},
		{"SKILL.md", "a/b\nc"},
	} {
		dir := t.TempDir()
		for _, name := range names {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(name), 0o644); err != nil {
				t.Skipf("this system does not allow the name %q: %v", name, err)
			}
		}
		var inv bundle.Inventory
		for _, name := range names {
			inv = append(inv, bundle.Entry{Path: name})
		}
		if got, want := entriesOf(inv), listEntries(dir); got != want {
			t.Errorf("%q: got %q, want %q", names, got, want)
		}
	}
}
