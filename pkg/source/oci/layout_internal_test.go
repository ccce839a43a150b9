package oci

import (
	"io/fs"
	"testing"
	"testing/fstest"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// lateIndex is a layout whose index.json another process writes after the first attempt to read it.
type lateIndex struct {
	fstest.MapFS
	missing int // attempts that do not find the file yet
}

func (l *lateIndex) Open(name string) (fs.File, error) {
	if err := l.find(name); err != nil {
		return nil, err
	}
	return l.MapFS.Open(name)
}

func (l *lateIndex) Stat(name string) (fs.FileInfo, error) {
	if err := l.find(name); err != nil {
		return nil, err
	}
	return l.MapFS.Stat(name)
}

func (l *lateIndex) find(name string) error {
	if name != ocispec.ImageIndexFile || l.missing == 0 {
		return nil
	}
	l.missing--
	return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// TestConcurrentIndexCreation checks that a layout that another process creates at the same time is recognized. A name
// without a file is not a layout.
func TestConcurrentIndexCreation(t *testing.T) {
	file := &fstest.MapFile{Data: []byte(`{"schemaVersion":2,"manifests":[]}`)}
	for missing, want := range map[int]bool{0: true, 1: true, 1000: false} {
		fsys := &lateIndex{MapFS: fstest.MapFS{ocispec.ImageIndexFile: file}, missing: missing}
		if _, err := (&layout{fsys: fsys, title: "layout"}).index(); (err == nil) != want {
			t.Errorf("after %d attempts without the file: %v", missing, err)
		}
	}
}
