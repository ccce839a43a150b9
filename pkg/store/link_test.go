package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// TestLink checks that verified files are hard-linked, and others are copied.
func TestLink(t *testing.T) {
	s, dir := open(t)
	digest := put(t, s, deploy())["deploy"]
	tree := filepath.Join(filepath.Dir(inventoryOf(dir, digest)), "tree")
	odd := filepath.Join(tree, "references", "c.md")
	if err := os.Chmod(odd, 0o755); err != nil { // differs from the inventory
		t.Fatal(err)
	}
	dst := filepath.Join(t.TempDir(), "deploy")
	if _, err := s.Copy(t.Context(), digest, dst, store.CopyOptions{Link: true}); err != nil {
		t.Fatal(err)
	}
	got, err := bundle.Sum(os.DirFS(dst), ".")
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		got = got.WithModes(deploy().Inventory)
	}
	if err := deploy().Inventory.Check(got); err != nil {
		t.Error(err)
	}
	for _, e := range deploy().Inventory {
		a, errA := os.Stat(filepath.Join(tree, filepath.FromSlash(e.Path)))
		b, errB := os.Stat(filepath.Join(dst, filepath.FromSlash(e.Path)))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if want := e.Path != "references/c.md" || runtime.GOOS == "windows"; os.SameFile(a, b) != want {
			t.Errorf("%s: one file is %v, want %v", e.Path, os.SameFile(a, b), want)
		}
	}
	if _, err := s.Copy(t.Context(), digest, dst, store.CopyOptions{Link: true}); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("over an existing directory: %v", err)
	}
	// An edit of a linked file damages the store, which the next use detects.
	if err := os.WriteFile(filepath.Join(dst, "SKILL.md"), []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "deploy")
	if _, err := s.Copy(t.Context(), digest, again, store.CopyOptions{Link: true}); diag.CodeOf(err) != diag.Integrity {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(again); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a damaged tree was linked")
	}
	if s.Has(digest) {
		t.Error("the damaged tree was left in the store")
	}
}

func TestAddTree(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "vendor", "deploy")
	for _, e := range deploy().Inventory {
		r, err := deploy().Open(e.Path)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(src, filepath.FromSlash(e.Path))
		data := make([]byte, e.Size)
		if _, err := r.Read(data); err != nil && e.Size > 0 {
			t.Fatal(err)
		}
		mode := fs.FileMode(0o644)
		if e.Executable {
			mode = 0o755
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(src, ".DS_Store"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s, storeDir := open(t)
	want := deploy().Inventory.Digest()
	other := bundle.Inventory{}.Digest()
	fsys := os.DirFS(dir)
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes there")
	}
	if err := s.AddTree(fsys, "vendor/deploy", other); diag.CodeOf(err) != diag.Integrity {
		t.Errorf("another digest: %v", err)
	}
	if trees, rubbish := entries(t, storeDir); len(trees)+len(rubbish) != 0 {
		t.Errorf("the store has %q and left %q", trees, rubbish)
	}
	for range 2 {
		if err := s.AddTree(fsys, "vendor/deploy", want); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Verify(want); err != nil {
		t.Error(err)
	}
	if err := os.Symlink("SKILL.md", filepath.Join(src, "link")); err != nil {
		t.Fatal(err)
	}
	remove(t, filepath.Dir(inventoryOf(storeDir, want)))
	if err := s.AddTree(fsys, "vendor/deploy", want); diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("with a link in it: %v", err)
	}
}

// TestLostInventory checks that a directory without an inventory does not prevent adding its tree.
func TestLostInventory(t *testing.T) {
	s, dir := open(t)
	digest := put(t, s, deploy())["deploy"]
	remove(t, inventoryOf(dir, digest))
	if err := s.Materialize(t.Context(), digest, filepath.Join(t.TempDir(), "x")); diag.CodeOf(err) != diag.NotFound || diag.HintOf(err) == "" {
		t.Errorf("got %v, want NotFound with a hint", err)
	}
	put(t, s, deploy())
	if err := s.Materialize(t.Context(), digest, filepath.Join(t.TempDir(), "x")); err != nil {
		t.Error(err)
	}
}
