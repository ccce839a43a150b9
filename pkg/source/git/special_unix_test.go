//go:build unix

package git_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// gitCheckout creates a repository with a commit and a work tree.
func gitCheckout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	r := gittest.New(t, root, "o/r.git")
	r.Commit(gittest.Text(map[string]string{"a/SKILL.md": gittest.Skill("a", "A.")}))
	dir := filepath.Join(root, "checkout")
	cmd := exec.Command(gittest.Git(t), "clone", "--quiet", r.Dir, dir)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	return dir
}

// TestSpecialFilesOfRepository replaces each file that is read in .git by a pipe, a device, or a huge file. For the git
// program each is an error before it runs. In a repository that is read directly, an optional file counts as missing.
// Nothing hangs.
func TestSpecialFilesOfRepository(t *testing.T) {
	dir := gitCheckout(t)
	client := git.New(git.Options{Cache: t.TempDir()})
	t.Cleanup(func() { client.Close() })
	readers := map[string]func() error{
		"changed": func() error { _, _, err := git.Changed(t.Context(), dir, "HEAD"); return err },
		"status":  func() error { _, err := git.StatusOf(t.Context(), dir, []string{"x"}); return err },
		"local": func() error {
			_, err := client.Open(t.Context(), pack.Ref{Kind: pack.KindGit, URL: "file://" + filepath.ToSlash(dir), Rev: "HEAD", Subdir: "a"})
			return err
		},
	}
	kinds := map[string]func(string) error{
		"pipe":   func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"device": func(name string) error { return os.Symlink("/dev/zero", name) },
		"huge": func(name string) error {
			return errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 1<<40))
		},
	}
	for file, needed := range map[string]string{
		".git": "changed status local", ".git/HEAD": "changed status local", ".git/index": "changed status",
		".git/commondir": "changed status local", ".git/config": "changed status", ".git/info/exclude": "changed status",
		".git/info/attributes": "changed status", ".git/shallow": "changed status", ".git/packed-refs": "changed status",
		".git/refs/heads/main": "changed status", ".git/objects/info/alternates": "changed status",
	} {
		for kind, put := range kinds {
			at := filepath.Join(dir, filepath.FromSlash(file))
			good := at + ".good"
			if err := os.Rename(at, good); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if err := put(at); err != nil {
				t.Fatal(err)
			}
			for name, read := range readers {
				if err := read(); err == nil && strings.Contains(needed, name) {
					t.Errorf("%s: %s is a %s, and that is no error", name, file, kind)
				}
			}
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(good, at); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
	for name, read := range readers {
		if err := read(); err != nil {
			t.Errorf("%s, when everything is as it was: %v", name, err)
		}
	}
}

// TestForeignRepository has a .git of another user above the directory, as any user can create in a shared directory.
func TestForeignRepository(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := gitCheckout(t)
	if err := os.Chown(filepath.Join(dir, ".git"), 12345, -1); err != nil {
		t.Skip("this root may not give files away")
	}
	_, _, err := git.Changed(t.Context(), filepath.Join(dir, "a"), "")
	_, err2 := git.StatusOf(t.Context(), filepath.Join(dir, "a"), []string{"x"})
	for _, err := range []error{err, err2} {
		if diag.CodeOf(err) != diag.NotFound || !strings.Contains(err.Error(), "belongs to another user") {
			t.Errorf("got %v", err)
		}
	}
}
