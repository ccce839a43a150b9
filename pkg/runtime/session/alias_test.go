package session

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAliases checks that a file has all paths of protected files that are the same, also of one that does not exist.
func TestAliases(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.ToSlash(filepath.Join(dir, filepath.FromSlash(name))) }
	if err := os.MkdirAll(in("d/e"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("d/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Symlink("d", in("one")) != nil || os.Symlink("d", in("two")) != nil || os.Link(in("d/file"), in("hard")) != nil {
		t.Skip("no links here")
	}
	// Links stand for two mounts of a directory.
	find := aliases([]string{"", in("one/none"), in("two/other/none"), in("one/file"), in("d/third")})
	for file, want := range map[string][]string{
		"d/none":   {"one/none", "two/none"},
		"d/e/f":    {"one/e/f", "two/e/f"},
		"d":        {"one", "two"},
		"hard":     {"one/file"},
		"none/x":   nil,
		"one/none": nil, // a link is not what it leads to
	} {
		got := find(in(file))
		slices.Sort(got)
		for i := range want {
			want[i] = in(want[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
