package git

import (
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/skillpm/skillpm/pkg/source/git/internal/packfile"
)

// objects provides the objects of a commit. Contents are not verified. The error for an object that does not exist is
// [plumbing.ErrObjectNotFound].
type objects interface {
	// Find returns the type and size of an object.
	Find(id plumbing.Hash) (plumbing.ObjectType, int64, error)
	// Content returns the content of an object smaller than [packfile.LargeObject].
	Content(id plumbing.Hash) ([]byte, error)
	// Stream opens the content of an object.
	Stream(id plumbing.Hash) (io.ReadCloser, error)
	Close() error
}

// repository provides the objects of a local repository. The mutex is needed because go-git's storage is not safe for
// concurrent use.
type repository struct {
	mu      sync.Mutex
	storage *filesystem.Storage
}

func (r *repository) Find(id plumbing.Hash) (plumbing.ObjectType, int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.storage.EncodedObject(plumbing.AnyObject, id)
	if err != nil {
		return plumbing.InvalidObject, 0, err
	}
	return o.Type(), o.Size(), nil
}

func (r *repository) Content(id plumbing.Hash) ([]byte, error) {
	s, err := r.Stream(id)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return io.ReadAll(io.LimitReader(s, packfile.LargeObject))
}

func (r *repository) Stream(id plumbing.Hash) (io.ReadCloser, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.storage.EncodedObject(plumbing.AnyObject, id)
	if err != nil {
		return nil, err
	}
	return o.Reader()
}

func (r *repository) Close() error { return r.storage.Close() }
