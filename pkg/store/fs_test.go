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
