package index_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

func TestCheckLayout(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "layout"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "b")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "a", "out")); err != nil {
		t.Skip(err)
	}
	for src, want := range map[string]bool{
		"oci-layout:a/layout": true, "oci-layout:./a//layout/": true, "oci-layout:none": true, "oci://x/a/out": true,
		"oci-layout:b": false, "oci-layout:b/layout": false, "oci-layout:a/out": false, "oci-layout:a/out/x": false, "oci-layout:./a/../b": false,
	} {
		if err := index.CheckLayout(safefile.Dir(dir), src); (err == nil) != want {
			t.Errorf("%s: %v", src, err)
		}
	}
}
