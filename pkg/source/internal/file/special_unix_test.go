//go:build unix

package file_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/internal/file"
)

// TestSpecialRepository checks that files that block or never end do not count as a repository, in the directory and
// above it.
func TestSpecialRepository(t *testing.T) {
	pipe := func(name string) error { return syscall.Mkfifo(name, 0o600) }
	zero := func(name string) error { return os.Symlink("/dev/zero", name) }
	huge := func(name string) error {
		return errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 1<<40))
	}
	dir, want := checkout(t, "core.fileMode=false")
	c := file.New(file.Options{Base: dir})
	for _, name := range []string{".git/index", ".git/config", ".git/commondir", ".git"} {
		for kind, put := range map[string]func(string) error{"pipe": pipe, "device": zero, "huge": huge} {
			at := filepath.Join(dir, filepath.FromSlash(name))
			good := at + ".good"
			if err := os.Rename(at, good); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if err := put(at); err != nil {
				t.Fatal(err)
			}
			if _, got := fetch(t, c, path(t, "./packs/a")); !maps.Equal(got, want) {
				t.Errorf("%s as a %s: %v, want %v", name, kind, got, want)
			}
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(good, at); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
}

// TestForeignRepository checks that another user's index does not affect a pack.
func TestForeignRepository(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, theirs := range []string{".git", "../kept"} {
		dir, want := checkout(t, "core.fileMode=false")
		git := filepath.Join(dir, ".git")
		if theirs != ".git" { // an own file that names a directory which is not
			err := errors.Join(os.Rename(git, filepath.Join(dir, theirs)), os.WriteFile(git, []byte("gitdir: "+theirs+"\n"), 0o600))
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Join(dir, "packs", "a", "scripts", "run.sh"), 0o644); err != nil {
			t.Fatal(err)
		}
		c := file.New(file.Options{Base: dir})
		if _, got := fetch(t, c, path(t, "./packs/a")); !maps.Equal(got, want) {
			t.Fatalf("%v, want %v: the index has no say at all", got, want)
		}
		if err := os.Chown(filepath.Join(dir, theirs), 12345, -1); err != nil {
			t.Skip("this root may not give files away")
		}
		if _, got := fetch(t, c, path(t, "./packs/a")); maps.Equal(got, want) {
			t.Errorf("%s of another user: its index says what mode a file has", theirs)
		}
	}
}

// TestPipeInPack checks that a pipe in a pack is rejected and never blocks.
func TestPipeInPack(t *testing.T) {
	for _, name := range []string{"SKILL.md", "skillpm.yaml", "notes.md", "link.md"} {
		dir, _ := checkout(t)
		at := filepath.Join(dir, "packs", "a", name)
		if name == "link.md" {
			at = filepath.Join(dir, "packs", "a", "pipe")
			if err := os.Symlink("pipe", filepath.Join(dir, "packs", "a", name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(at); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(at, 0o600); err != nil {
			t.Fatal(err)
		}
		c := file.New(file.Options{Base: dir})
		p, err := c.Open(t.Context(), path(t, "./packs/a"))
		if err == nil {
			err = c.Fetch(t.Context(), p, nil, bundle.NewHasher(bundle.DefaultLimits()))
		}
		if err == nil {
			t.Errorf("%s is a pipe, and the pack was taken", name)
		}
	}
}
