package packfile

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Set provides the objects of several packs. Contents are not verified. The error for an object that none of them has
// is [plumbing.ErrObjectNotFound].
type Set []*Pack

func (s Set) lookup(id plumbing.Hash) (*Pack, int32, error) {
	for _, p := range s {
		if i, ok := p.find(id); ok {
			return p, i, nil
		}
	}
	return nil, 0, plumbing.ErrObjectNotFound
}

// Find returns the type and size of an object.
func (s Set) Find(id plumbing.Hash) (plumbing.ObjectType, int64, error) {
	p, i, err := s.lookup(id)
	if err != nil {
		return plumbing.InvalidObject, 0, err
	}
	return p.entries[i].kind, p.entries[i].size, nil
}

// Content returns the content of an object smaller than [LargeObject].
func (s Set) Content(id plumbing.Hash) ([]byte, error) {
	p, i, err := s.lookup(id)
	if err != nil {
		return nil, err
	}
	return p.content(i)
}

// Stream opens the content of an object.
func (s Set) Stream(id plumbing.Hash) (io.ReadCloser, error) {
	p, i, err := s.lookup(id)
	if err != nil {
		return nil, err
	}
	return p.stream(i)
}

// Forget frees the contents that are cached in memory.
func (s Set) Forget() {
	for _, p := range s {
		p.Forget()
	}
}

// Close closes the files.
func (s Set) Close() error {
	var first error
	for _, p := range s {
		if err := p.Close(); first == nil {
			first = err
		}
	}
	return first
}

// OpenSet opens the packs of a directory.
func OpenSet(dir string, l Limits) (Set, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var s Set
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), indexExt) {
			continue
		}
		p, err := openPack(filepath.Join(dir, file.Name()), l)
		if err != nil {
			_ = s.Close() // the first error matters
			return nil, err
		}
		s = append(s, p)
	}
	return s, nil
}
