package git

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

func TestOpenBase(t *testing.T) {
	t.Parallel()
	w := newCheckout(t)
	first := w.git("rev-parse", "HEAD")
	earlier := func(dir, since string) (commit, text string, changed []string) {
		t.Helper()
		b, err := OpenBase(t.Context(), dir, since)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if b.FS == nil {
			return b.Commit, "", b.Changed
		}
		data, _ := fs.ReadFile(b.FS, "README.md")
		return b.Commit, string(data), b.Changed
	}
	if commit, text, changed := earlier(w.dir, ""); commit != "" || text != "" || changed != nil {
		t.Errorf("the first commit: %q %q %q", commit, text, changed)
	}
	w.write("README.md", "two\n")
	second := w.commit("two")
	w.write("README.md", "three\n")
	w.write("index/README.md", "here\n")
	if commit, text, changed := earlier(w.dir, ""); commit != first || text != "# Skills\n" || !slices.Equal(changed, []string{"README.md", "index/README.md"}) {
		t.Errorf("the parent: %q %q %q", commit, text, changed)
	}
	if commit, text, _ := earlier(w.dir, "HEAD"); commit != second || text != "two\n" {
		t.Errorf("HEAD: %q %q", commit, text)
	}
	if _, text, changed := earlier(filepath.Join(w.dir, "index"), "origin/main"); text != "" || !slices.Equal(changed, []string{"README.md"}) {
		t.Errorf("a directory that is new: %q %q", text, changed)
	}
	w.commit("three")
	if _, text, changed := earlier(filepath.Join(w.dir, "index"), "HEAD"); text != "here\n" || len(changed) != 0 {
		t.Errorf("a directory: %q %q", text, changed)
	}
	w.git("push", "--quiet", "origin", "main")
	w.git("clone", "--quiet", "--depth=1", "file://"+w.repo.Dir, "../flat")
	_, err := OpenBase(t.Context(), filepath.Join(filepath.Dir(w.dir), "flat"), "")
	wantError(t, err, diag.NotFound, "the clone is shallow", "git fetch --unshallow")
	_, err = OpenBase(t.Context(), t.TempDir(), "")
	wantError(t, err, diag.NotFound, "not in a git work tree", "")
	_, err = OpenBase(t.Context(), w.dir, "nosuch")
	if diag.CodeOf(err) != diag.NotFound {
		t.Errorf("got %v", err)
	}
}
