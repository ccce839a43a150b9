package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/syserr"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Discard removes a damaged tree from the store, so that it is fetched again. It is hashed once more where nobody else
// can reach it, and put back if it is right: since it was found damaged, another process may have fetched it. It goes
// whole and at once; a process that is reading it meanwhile is told. That it is not there is no error.
func (s *Store) Discard(digest string) error {
	return s.discard(digest, func(aside string) (bool, error) { return isDamaged(aside, digest) })
}

// isDamaged reports whether what was moved aside is not the tree of that digest.
func isDamaged(aside, digest string) (bool, error) {
	if info, err := os.Lstat(aside); err != nil || !info.IsDir() {
		return err == nil, err
	}
	dir, err := openFolder(aside)
	if err != nil {
		return false, err
	}
	defer dir.close()
	err = verify(dir, digest)
	if _, damaged := errors.AsType[*bundle.MismatchError](err); damaged || diag.CodeOf(err) == diag.NotFound {
		return true, nil
	}
	return false, err
}

// discard moves an entry aside and removes it if it is bad then; else it puts it back.
func (s *Store) discard(digest string, bad func(aside string) (bool, error)) error {
	dir, err := s.entryDir(digest)
	if err != nil {
		return err
	}
	scratch, err := s.scratch()
	if err != nil {
		return syserr.Explain(err)
	}
	aside := filepath.Join(scratch.dir, "discarded")
	err = os.Rename(dir, aside)
	if err == nil {
		var remove bool
		if remove, err = bad(aside); !remove {
			err = errors.Join(err, s.restore(aside, dir, digest))
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return syserr.Explain(errors.Join(err, scratch.close()))
}

// restore undoes a move aside. That somebody has put the same tree there meanwhile is as good.
func (s *Store) restore(aside, dir, digest string) error {
	err := os.Rename(aside, dir)
	if err != nil && s.Has(digest) {
		return nil
	}
	return err
}
