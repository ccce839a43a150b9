package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/store"
)

// TestCopyInspect checks that Inspect gets the whole content of its file, and no damaged one, and that an error of it
// leaves no copy and does not discard the tree.
func TestCopyInspect(t *testing.T) {
	s, dir := open(t)
	digest := put(t, s, deploy())["deploy"]
	failed := errors.New("failed")
	for _, link := range []bool{false, true} {
		for _, name := range []string{"SKILL.md", "assets/large.bin", "missing"} {
			var got [][]byte
			inspect := func(data []byte) error { got = append(got, bytes.Clone(data)); return nil }
			inv, err := s.Copy(t.Context(), digest, filepath.Join(t.TempDir(), "x"),
				store.CopyOptions{Link: link, File: name, Inspect: inspect})
			if err != nil || inv.Digest() != digest {
				t.Fatal(inv.Digest(), err)
			}
			e, ok := inv.Find(name)
			if len(got) != 1 && ok || len(got) != 0 && !ok {
				t.Fatalf("%s: %d calls", name, len(got))
			}
			if ok && e.Check(got[0]) != nil {
				t.Errorf("%s: %v", name, e.Check(got[0]))
			}
		}
		dst := filepath.Join(t.TempDir(), "x")
		_, err := s.Copy(t.Context(), digest, dst, store.CopyOptions{
			Link: link, File: "SKILL.md", Inspect: func([]byte) error { return failed },
		})
		if _, statErr := os.Lstat(dst); !errors.Is(err, failed) || !errors.Is(statErr, fs.ErrNotExist) || !s.Has(digest) {
			t.Errorf("%v, %v, %v", err, statErr, s.Has(digest))
		}
	}
	file := filepath.Join(filepath.Dir(inventoryOf(dir, digest)), "tree", "SKILL.md")
	if err := os.WriteFile(file, []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := s.Copy(t.Context(), digest, filepath.Join(t.TempDir(), "x"), store.CopyOptions{
		File: "SKILL.md", Inspect: func(data []byte) error { t.Errorf("got %q", data); return nil },
	})
	if _, ok := errors.AsType[*bundle.MismatchError](err); !ok || diag.CodeOf(err) != diag.Integrity {
		t.Error(err)
	}
}
