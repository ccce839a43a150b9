//go:build unix

package oci_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// TestLayoutSpecialFiles replaces each file of a layout by a pipe, which must not block, and by a link to a file
// elsewhere, which must not be read.
func TestLayoutSpecialFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("Xyzzy"), 0o600); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]struct {
		put  func(name string) error
		want string
	}{
		"pipe": {func(name string) error { return syscall.Mkfifo(name, 0o600) }, "not a regular file"},
		"link": {func(name string) error { return os.Symlink(secret, name) }, "escapes"},
	}
	for kind, tt := range kinds {
		base := t.TempDir()
		c := oci.New(oci.Options{Base: base})
		ref := pack.Ref{Kind: pack.KindLayout, URL: "out", ID: deployID, Rev: "1.0.0"}
		push(t, c, pack.Ref{Kind: pack.KindLayout, URL: "out", ID: deployID}, "1.0.0", "deploy")
		blobs, err := filepath.Glob(filepath.Join(base, "out", "blobs", "sha256", "*"))
		if err != nil || len(blobs) < 2 {
			t.Fatalf("%d blobs, %v", len(blobs), err)
		}
		refused := 0
		for _, file := range append(blobs, filepath.Join(base, "out", "index.json")) {
			good := file + ".good"
			if err := errors.Join(os.Rename(file, good), tt.put(file)); err != nil {
				t.Fatal(err)
			}
			if err := get(t, c, ref); err != nil { // the empty configuration is not asked for
				refused++
				if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "X") {
					t.Errorf("%s as a %s: %v, want that it %s, and nothing of what is in it", filepath.Base(file), kind, err, tt.want)
				}
			}
			if err := os.Rename(good, file); err != nil {
				t.Fatal(err)
			}
		}
		if refused < 3 { // the index, the manifest and a layer
			t.Errorf("%d files as a %s were refused, want 3 at least", refused, kind)
		}
	}
}

// TestLayoutLockIsAPipe publishes to a layout whose lock file is a pipe.
func TestLayoutLockIsAPipe(t *testing.T) {
	base := t.TempDir()
	c := oci.New(oci.Options{Base: base})
	ref := pack.Ref{Kind: pack.KindLayout, URL: "out", ID: deployID}
	lock := filepath.Join(base, "out", ".skillpm-lock")
	if err := errors.Join(os.Mkdir(filepath.Dir(lock), 0o700), syscall.Mkfifo(lock, 0o600)); err != nil {
		t.Fatal(err)
	}
	rel, trees := release("1.0.0", "deploy")
	if _, err := c.Push(t.Context(), ref, rel, trees, oci.PushOptions{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}
