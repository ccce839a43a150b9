package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// TestFS checks that a tree as a file system has exactly the files and content of the inventory, even if the store
// changes.
func TestFS(t *testing.T) {
	s, dir := open(t)
	digest := put(t, s, deploy())["deploy"]
	fsys, err := s.FS(digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(fsys, "SKILL.md", "empty", "references/a/b.md", "scripts/run.sh", "assets/large.bin"); err != nil {
		t.Error(err)
	}
	if info, err := fs.Stat(fsys, "scripts/run.sh"); err != nil || info.Mode() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	if got, err := bundle.Sum(fsys, "."); err != nil || got.Digest() != digest {
		t.Errorf("its digest is %s, want %s: %v", got.Digest(), digest, err)
	}
	edited := ""
	_ = filepath.WalkDir(dir, func(p string, _ fs.DirEntry, _ error) error {
		if filepath.Base(p) == "run.sh" {
			edited = p
		}
		return nil
	})
	if err := os.Remove(edited); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(edited, []byte("#!/bin/ex\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if data, err := fs.ReadFile(fsys, "scripts/run.sh"); diag.CodeOf(err) != diag.Integrity {
		t.Errorf("an edited file gives %q, %v", data, err)
	}
	if _, err := s.FS(bundle.DigestOf(nil)); diag.CodeOf(err) != diag.NotFound {
		t.Errorf("a tree that is not there: %v", err)
	}
}

// TestReadingDamageDiscards damages a file as a power loss does, and removes another one: reading reports the damage,
// and the tree is fetched again.
func TestReadingDamageDiscards(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"missing": os.Remove,
	} {
		s, dir := open(t)
		digest := put(t, s, deploy())["deploy"]
		files, err := s.FS(digest)
		if err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(dir, "t1", "*", "*", "tree", "SKILL.md"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if err := damage(found[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := fs.ReadFile(files, "SKILL.md"); diag.CodeOf(err) != diag.Integrity {
			t.Errorf("%s: reading returned %v", name, err)
		}
		if s.Has(digest) {
			t.Errorf("%s: the damaged tree is still there", name)
		}
	}
}
