package git

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// objects are what a commit is read from. Contents are not checked against ids. An object that is not there is
// [plumbing.ErrObjectNotFound].
type objects interface {
	// find returns what an object is, and its size.
	find(id plumbing.Hash) (plumbing.ObjectType, int64, error)
	// content returns the content of an object smaller than largeObject.
	content(id plumbing.Hash) ([]byte, error)
	// stream opens the content of an object.
	stream(id plumbing.Hash) (io.ReadCloser, error)
	close() error
}

// packs are the objects of packs.
type packs []*storedPack

func (s packs) lookup(id plumbing.Hash) (*storedPack, int32, error) {
	for _, p := range s {
		if i, ok := p.find(id); ok {
			return p, i, nil
		}
	}
	return nil, 0, plumbing.ErrObjectNotFound
}

func (s packs) find(id plumbing.Hash) (plumbing.ObjectType, int64, error) {
	p, i, err := s.lookup(id)
	if err != nil {
		return plumbing.InvalidObject, 0, err
	}
	return p.entries[i].kind, p.entries[i].size, nil
}

func (s packs) content(id plumbing.Hash) ([]byte, error) {
	p, i, err := s.lookup(id)
	if err != nil {
		return nil, err
	}
	return p.content(i)
}

func (s packs) stream(id plumbing.Hash) (io.ReadCloser, error) {
	p, i, err := s.lookup(id)
	if err != nil {
		return nil, err
	}
	return p.stream(i)
}

func (s packs) close() error {
	var first error
	for _, p := range s {
		if err := p.close(); first == nil {
			first = err
		}
	}
	return first
}

// openPacks opens the packs of a directory.
func openPacks(dir string, l limits) (packs, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var s packs
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), indexExt) {
			continue
		}
		p, err := openPack(filepath.Join(dir, file.Name()), l)
		if err != nil {
			_ = s.close() // the first error matters
			return nil, err
		}
		s = append(s, p)
	}
	return s, nil
}

// repository are the objects of a repository of this machine. go-git's storage is for one goroutine.
type repository struct {
	mu      sync.Mutex
	storage *filesystem.Storage
}

func (r *repository) find(id plumbing.Hash) (plumbing.ObjectType, int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.storage.EncodedObject(plumbing.AnyObject, id)
	if err != nil {
		return plumbing.InvalidObject, 0, err
	}
	return o.Type(), o.Size(), nil
}

func (r *repository) content(id plumbing.Hash) ([]byte, error) {
	s, err := r.stream(id)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return io.ReadAll(io.LimitReader(s, largeObject))
}

func (r *repository) stream(id plumbing.Hash) (io.ReadCloser, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.storage.EncodedObject(plumbing.AnyObject, id)
	if err != nil {
		return nil, err
	}
	return o.Reader()
}

func (r *repository) close() error { return r.storage.Close() }
