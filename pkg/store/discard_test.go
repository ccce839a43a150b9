package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/store"
)

// TestDiscard checks that a damaged tree is removed, an intact one stays, and no other file is left.
func TestDiscard(t *testing.T) {
	edit := func(t *testing.T, entry string) {
		if err := os.WriteFile(filepath.Join(entry, "tree", "SKILL.md"), []byte("edited"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, entry string)
		kept   bool
	}{
		{"intact", func(*testing.T, string) {}, true},
		{"edited", edit, false},
		{"more files", func(t *testing.T, entry string) { scribble(t, filepath.Join(entry, "tree", "more")) }, false},
		{"no tree", func(t *testing.T, entry string) { remove(t, filepath.Join(entry, "tree")) }, false},
		{"no inventory", func(t *testing.T, entry string) { remove(t, filepath.Join(entry, "inventory")) }, false},
		{"another inventory", func(t *testing.T, entry string) { scribble(t, filepath.Join(entry, "inventory")) }, false},
		{"empty", func(t *testing.T, entry string) {
			remove(t, entry)
			if err := os.Mkdir(entry, 0o755); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a file", func(t *testing.T, entry string) { remove(t, entry); scribble(t, entry) }, false},
		{"not there", func(t *testing.T, entry string) { remove(t, entry) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := open(t)
			digest := put(t, s, deploy())["deploy"]
			tt.damage(t, filepath.Dir(inventoryOf(dir, digest)))
			for range 2 {
				if err := s.Discard(digest); err != nil {
					t.Fatal(err)
				}
				trees, rubbish := entries(t, dir)
				if (len(trees) == 1) != tt.kept || s.Has(digest) != tt.kept || len(rubbish) != 0 {
					t.Fatalf("the store has %q, want one: %v; and left %q", trees, tt.kept, rubbish)
				}
			}
			put(t, s, deploy())
			if err := s.Verify(digest); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDiscardAfterRefetch fetches a tree in another process after damage was found and before the tree is removed.
func TestDiscardAfterRefetch(t *testing.T) { // M2
	s, dir := open(t)
	digest := put(t, s, deploy())["deploy"]
	entry := filepath.Dir(inventoryOf(dir, digest))
	scribble(t, filepath.Join(entry, "tree", "more"))
	err := s.VerifyAll(t.Context(), func(e store.Entry, err error) {
		if err == nil {
			t.Error("damage was not found")
		}
		remove(t, entry)
		put(t, s, deploy())
		if err := s.Discard(e.Digest); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if err := s.Verify(digest); err != nil {
		t.Errorf("what was fetched again is gone: %v", err)
	}
}

// TestGCAfterRefetch checks that GC keeps a tree that was damaged when GC scanned it and was fetched again since.
func TestGCAfterRefetch(t *testing.T) {
	s, dir := open(t)
	digests := put(t, s, small(0), small(1))
	for _, digest := range digests {
		scribble(t, inventoryOf(dir, digest))
	}
	refetched := &onDone{Context: t.Context(), after: 3, do: func() {
		remove(t, filepath.Dir(inventoryOf(dir, digests["s0"])))
		put(t, s, small(0))
	}}
	report, err := s.GC(refetched, store.GCOptions{Unused: 30 * day, Now: noon})
	if err != nil || len(report.Removed) != 1 || report.Removed[0].Digest != digests["s1"] || report.Kept != 1 {
		t.Errorf("got %+v, %v", report, err)
	}
	if err := s.Verify(digests["s0"]); err != nil {
		t.Errorf("what was fetched again is gone: %v", err)
	}
}

// scribble writes a file of one byte that is in no tree.
func scribble(t testing.TB, file string) {
	t.Helper()
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}
