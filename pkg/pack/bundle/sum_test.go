package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// fileSystem puts a tree below dir of a file system in memory.
func fileSystem(t *testing.T, tree bundle.Tree, dir string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, e := range tree.Inventory {
		r, err := tree.Open(e.Path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		mode := fs.FileMode(0o644)
		if e.Executable {
			mode = 0o755
		}
		fsys[filepath.ToSlash(filepath.Join(dir, e.Path))] = &fstest.MapFile{Data: data, Mode: mode}
	}
	return fsys
}

func TestSum(t *testing.T) { // M2
	tree := demo()[1]
	for _, dir := range []string{".", "skills/deploy"} {
		fsys := fileSystem(t, tree, dir)
		for _, litter := range []string{".git/HEAD", ".DS_Store", "a/.DS_Store", "node_modules/x/y", "skillpm.yaml", "skillpm.lock", ".skillpm/state.json", "scripts/__pycache__/x.pyc"} {
			fsys[filepath.ToSlash(filepath.Join(dir, litter))] = &fstest.MapFile{}
		}
		inv, err := bundle.Sum(fsys, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Inventory.Check(inv); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestDirTree packs a directory with a decomposed name, which macOS uses, and with skipped files.
func TestDirTree(t *testing.T) { // M3
	fsys := fstest.MapFS{
		"x/SKILL.md":     {Data: []byte("s"), Mode: 0o644},
		"x/cafe\u0301":   {Data: []byte("c"), Mode: 0o755},
		"x/drafts/a.md":  {Data: []byte("d"), Mode: 0o644},
		"x/notes.draft":  {Data: []byte("n"), Mode: 0o644},
		"x/sub/more.md":  {Data: []byte("m"), Mode: 0o600},
		"other/SKILL.md": {Data: []byte("o"), Mode: 0o644},
	}
	skip := func(p string, dir bool) bool { return dir && p == "drafts" || strings.HasSuffix(p, ".draft") }
	tree, err := bundle.DirTree(fsys, "x", skip)
	if err != nil {
		t.Fatal(err)
	}
	want := bundle.MapTree("x", map[string][]byte{"SKILL.md": []byte("s"), "caf\u00e9": []byte("c"), "sub/more.md": []byte("m")},
		func(p string) bool { return p == "caf\u00e9" })
	if err := want.Inventory.Check(tree.Inventory); err != nil || tree.Name != "x" {
		t.Fatalf("%s: %v", tree.Name, err)
	}
	got, _ := archive(t, []bundle.Tree{tree})
	expected, _ := archive(t, []bundle.Tree{want})
	if !bytes.Equal(got, expected) {
		t.Error("the archives differ")
	}
}

func TestSumRefuses(t *testing.T) {
	file := &fstest.MapFile{Mode: 0o644}
	tests := []struct {
		name string
		fsys fstest.MapFS
		want string
	}{
		{"symbolic link", fstest.MapFS{"a": {Mode: fs.ModeSymlink | 0o777, Data: []byte("SKILL.md")}}, `entry "a" is a symbolic link`},
		{"device", fstest.MapFS{"a": {Mode: fs.ModeDevice | 0o644}}, "is a device"},
		{"named pipe", fstest.MapFS{"a": {Mode: fs.ModeNamedPipe | 0o644}}, "is a named pipe"},
		{"socket", fstest.MapFS{"a": {Mode: fs.ModeSocket | 0o644}}, "is a socket"},
		{"irregular", fstest.MapFS{"a": {Mode: fs.ModeIrregular | 0o644}}, "is a submodule or special file"},
		{"unsafe name", fstest.MapFS{"con.md": file}, "Windows device"},
		{"collision", fstest.MapFS{"a.md": file, "A.md": file}, `collides with "A.md"`},
		{"unsafe directory", fstest.MapFS{"x./a": file}, "ends with a dot"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := bundle.Sum(tt.fsys, ".")
			if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	if _, err := bundle.Sum(fstest.MapFS{}, "missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}

// TestSumLinkOnDisk proves that a real link is detected and not followed.
func TestSumLinkOnDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("SKILL.md", filepath.Join(dir, "link.md")); err != nil {
		t.Skipf("symbolic links are needed: %v", err)
	}
	if _, err := bundle.Sum(os.DirFS(dir), "."); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("got %v", err)
	}
}

// TestWriteArchiveRefuses proves that only hashed content that others can install is published.
func TestWriteArchiveRefuses(t *testing.T) { // M3
	tree := func(name string, files map[string][]byte) bundle.Tree { return bundle.MapTree(name, files, nil) }
	changed := func(content string) bundle.Tree {
		good := tree("x", map[string][]byte{"SKILL.md": []byte("abc")})
		good.Open = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
		return good
	}
	gone := changed("")
	gone.Open = func(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist }
	ok := map[string][]byte{"SKILL.md": {}}
	tests := []struct {
		name  string
		trees []bundle.Tree
		code  diag.Code
	}{
		{"good", []bundle.Tree{changed("abc")}, diag.OK},
		{"changed", []bundle.Tree{changed("abd")}, diag.Integrity},
		{"shorter", []bundle.Tree{changed("ab")}, diag.Integrity},
		{"longer", []bundle.Tree{changed("abcd")}, diag.Integrity},
		{"gone", []bundle.Tree{gone}, diag.Internal},
		{"twice", []bundle.Tree{tree("x", ok), tree("x", ok)}, diag.Invalid},
		{"unsafe skill", []bundle.Tree{tree("..", ok)}, diag.Invalid},
		{"two directories", []bundle.Tree{tree("a/b", ok)}, diag.Invalid},
		{"empty name", []bundle.Tree{tree("", ok)}, diag.Invalid},
		{"unsafe path", []bundle.Tree{tree("x", map[string][]byte{"../x": nil})}, diag.Invalid},
		{"collision", []bundle.Tree{tree("x", map[string][]byte{"a": nil, "A": nil})}, diag.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := bundle.WriteArchive(io.Discard, tt.trees); diag.CodeOf(err) != tt.code {
				t.Errorf("got %v, want %v", err, tt.code)
			}
		})
	}
}

type brokenPipe struct{ room int }

func (w *brokenPipe) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestWriteArchiveFull proves that every failing write is reported.
func TestWriteArchiveFull(t *testing.T) {
	data, _ := archive(t, demo())
	for room := range len(data) {
		if _, err := bundle.WriteArchive(&brokenPipe{room}, demo()); !errors.Is(err, io.ErrClosedPipe) {
			t.Fatalf("with room for %d bytes: %v", room, err)
		}
	}
}
