package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestGuards checks that restoring a path neither touches nor loses what belongs to the user.
func TestGuards(t *testing.T) {
	write := func(t *testing.T, path string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("theirs\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name    string
		files   []string // of the user, which must stay
		guarded string
		script  func(t *testing.T, dir string, g *guard)
	}{
		{"a directory exchanged for a link while the steps are restored", []string{".git/config", "sub/x"}, "sub/.git", func(t *testing.T, dir string, g *guard) {
			t.Helper()
			if err := errors.Join(os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "old")), os.Symlink(".", filepath.Join(dir, "sub"))); err != nil {
				t.Fatal(err)
			}
			g.Steps = g.Steps[1:] // sub was still the directory
			g.tidy()
			g.chmod("sub/.git", 0o700)
			if err := errors.Join(os.Remove(filepath.Join(dir, "sub")), os.Rename(filepath.Join(dir, "old"), filepath.Join(dir, "sub"))); err != nil {
				t.Fatal(err)
			}
		}},
		{"a name like that of a moved file", []string{"x.refused-abcdefgh"}, "x.refused-abcdefgh", func(*testing.T, string, *guard) {}},
	} {
		dir := t.TempDir()
		for _, name := range test.files {
			write(t, filepath.Join(dir, name))
		}
		if err := os.Chmod(dir, 0o775|fs.ModeSetgid); err != nil {
			t.Fatal(err)
		}
		guards, err := newGuards([]string{dir}, []string{filepath.Join(dir, test.guarded)})
		if err != nil || len(guards) != 1 {
			t.Fatal(guards, err)
		}
		test.script(t, dir, &guards[0])
		changed, replaced := guards[0].tidy()
		guards[0].chmod(test.guarded, 0)
		for _, name := range test.files {
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o775 || info.Mode()&fs.ModeSetgid == 0 {
			t.Errorf("%s: %v %v", test.name, info.Mode(), err)
		}
		if len(changed)+len(replaced) > 0 {
			t.Errorf("%s: changed %q, replaced %q", test.name, changed, replaced)
		}
		guards[0].close()
	}
}

// TestGuardsFull checks that a file that cannot be looked at does not count as missing, neither before a command nor
// after it.
func TestGuardsFull(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	paths := []string{filepath.Join(dir, ".envrc"), filepath.Join(dir, ".git")}
	before, err := newGuards([]string{dir}, paths)
	if err != nil {
		t.Fatal(err)
	}
	defer before[0].close()
	if err := os.WriteFile(paths[0], nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	full := uint64(f.Fd()) + 1
	_ = f.Close()
	var own unix.Rlimit
	if err := errors.Join(unix.Getrlimit(unix.RLIMIT_NOFILE, &own), unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: full, Max: own.Max})); err != nil {
		t.Fatal(err)
	}
	_, err = newGuards([]string{dir}, paths)
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: full - 1, Max: own.Max})
	changed, replaced := before[0].tidy()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.EMFILE) {
		t.Error(err)
	}
	if len(changed) > 0 || !slices.Equal(replaced, paths) {
		t.Errorf("changed %q, replaced %q", changed, replaced)
	}
}

// TestOpenErrors checks that no path that cannot be opened counts as something that the machine lacks.
func TestOpenErrors(t *testing.T) {
	if Version() < minABI {
		t.Skip("this machine's Landlock is too old")
	}
	h := helperProcess{order: order{Network: networkAny, Paths: []visiblePath{{Path: filepath.Join(t.TempDir(), "moved")}}}}
	err := h.landlock()
	if failed := new(pathError); !errors.As(err, &failed) {
		t.Error(err)
	}
}
