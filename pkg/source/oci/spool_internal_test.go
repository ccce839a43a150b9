package oci

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// TestSpoolIsBounded checks that kept layers are limited in size and number, that the oldest is removed first, and that
// an open layer can be read to its end.
func TestSpoolIsBounded(t *testing.T) {
	dir := t.TempDir()
	s := &spool{dir: dir}
	layer := func(n int, size int64) ocispec.Descriptor {
		return ocispec.Descriptor{Digest: digest.Digest(fmt.Sprintf("sha256:%064x", n)), Size: size}
	}
	put := func(d ocispec.Descriptor) *spooled {
		t.Helper()
		k, err := s.temporary(d)
		if err != nil {
			t.Fatal(err)
		}
		s.keep(k)
		return k
	}
	first := put(layer(0, maxSpool/2))
	put(layer(1, maxSpool/2)).release()
	if s.find(layer(0, 1)) != nil {
		t.Error("a layer of another size was found")
	}
	put(layer(2, 1)).release()
	if s.find(layer(0, maxSpool/2)) != nil || s.bytes != maxSpool/2+1 {
		t.Errorf("the oldest is still there, with %d bytes in all", s.bytes)
	}
	if _, err := first.file.WriteString("x"); err != nil {
		t.Errorf("it was closed while it was read: %v", err)
	}
	first.release()
	if _, err := first.file.WriteString("x"); err == nil {
		t.Error("it was not closed")
	}
	for i := range 2 * maxSpoolSize {
		put(layer(10+i, 1)).release()
	}
	if len(s.layers) != maxSpoolSize {
		t.Errorf("%d layers are kept", len(s.layers))
	}
	s.close()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 0 || s.bytes != 0 {
		t.Errorf("left behind: %v %v, %d bytes", entries, err, s.bytes)
	}
	if k, err := (&spool{dir: dir + "/new"}).temporary(layer(1, 1)); err != nil {
		t.Errorf("a directory that is not there yet: %v", err)
	} else {
		k.release()
	}
	file := dir + "/file"
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (&spool{dir: file + "/none"}).temporary(layer(1, 1)); err == nil || !strings.Contains(err.Error(), "file") {
		t.Errorf("a directory that can't be: %v", err)
	}
}
