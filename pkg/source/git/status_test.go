package git_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// statusCase is a work tree with tracked and ignored files, created by git.
func statusCase(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		".gitignore":             "vendor/\n*.log\n!keep.log\n/skillpm.lock\nsub/**/x\n",
		"sub/.gitignore":         "!deep.log\nlocal\n",
		"sub/tracked.log":        "added by force",
		"vendor/skills/a.md":     "a",
		"other/vendor/file":      "f",
		"sub/a/b/x":              "x",
		"sub/deep.log":           "d",
		"sub/local/inside/it.md": "i",
		".git/info/exclude":      "excluded\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", "sub/tracked.log"}, {"add", ".gitignore"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git is needed to make the case: %v: %s", err, out)
		}
	}
	return dir
}

func TestStatusOf(t *testing.T) {
	dir := statusCase(t)
	paths := []string{
		"vendor/", "vendor/skills/a.md", "other/vendor/file", "x.log", "keep.log", "sub/deep.log", "sub/tracked.log", "skillpm.lock",
		"sub/skillpm.lock", "sub/a/b/x", "sub/local/inside/it.md", "sub/", "excluded", "skillpm.yaml", ".gitignore", "vendor", "no/such/file",
	}
	got, err := git.StatusOf(t.Context(), dir, paths)
	if err != nil {
		t.Fatal(err)
	}
	var tracked, ignored []string
	for i, p := range paths {
		if got[i].Tracked {
			tracked = append(tracked, p)
		}
		if got[i].Ignored {
			ignored = append(ignored, p)
		}
	}
	if want := []string{"sub/tracked.log", "sub/", ".gitignore"}; !slices.Equal(tracked, want) {
		t.Errorf("tracked: %q, want %q", tracked, want)
	}
	cmd := exec.Command("git", append([]string{"check-ignore"}, paths...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, _ := cmd.Output() // exit code 1 means that it is not ignored
	want := strings.Fields(string(out))
	if !slices.Equal(ignored, want) || len(want) == 0 {
		t.Errorf("ignored: %q, git says %q", ignored, want)
	}

	below, err := git.StatusOf(t.Context(), filepath.Join(dir, "sub"), []string{"tracked.log", "local", "a/b/x"})
	if err != nil || !below[0].Tracked || !below[1].Ignored || !below[2].Ignored {
		t.Errorf("in sub: %v, %v", below, err)
	}
	if _, err := git.StatusOf(t.Context(), t.TempDir(), []string{"a"}); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("outside of any repository: %v", err)
	}
}

func TestTracked(t *testing.T) {
	dir := statusCase(t)
	got, err := git.Tracked(t.Context(), dir, []string{"sub", "sub/tracked.log", "sub/deep.log", ".gitignore", "vendor", "no/such/file"})
	if want := map[string]bool{"sub": true, "sub/tracked.log": true, ".gitignore": true}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	got, err = git.Tracked(t.Context(), filepath.Join(dir, "sub"), []string{"tracked.log", "local", ".gitignore"})
	if want := map[string]bool{"tracked.log": true}; err != nil || !maps.Equal(got, want) {
		t.Errorf("in sub: %v, %v, want %v", got, err, want)
	}
	if _, err := git.Tracked(t.Context(), t.TempDir(), []string{"a"}); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("outside of any repository: %v", err)
	}
}
