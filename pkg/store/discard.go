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

// Discard removes a damaged tree from the store, so that it is fetched again. It moves the tree aside and hashes it
// again, because another process may have fetched it meanwhile, and moves an intact tree back. A process that reads the
// tree meanwhile gets an error. If there is no such tree, Discard does nothing.
func (s *Store) Discard(digest string) error {
	return s.discard(digest, func(aside string) (bool, error) { return isDamaged(aside, digest) })
}

// withoutDamaged removes a tree that caused an error because it is damaged.
func (s *Store) withoutDamaged(digest string, err error) error {
	if _, damaged := errors.AsType[*bundle.MismatchError](err); damaged {
		return errors.Join(err, s.Discard(digest))
	}
	return err
}

// isDamaged reports whether the directory aside does not have the tree with a digest.
func isDamaged(aside, digest string) (bool, error) {
	if info, err := os.Lstat(aside); err != nil || !info.IsDir() {
		return err == nil, err
	}
	dir, err := openDirectory(aside)
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

// discard moves a tree aside, and removes it if confirm returns true. Otherwise it moves the tree back.
func (s *Store) discard(digest string, confirm func(aside string) (bool, error)) error {
	dir, err := s.entryDir(digest)
	if err != nil {
		return err
	}
	scratch, err := s.newScratch()
	if err != nil {
		return syserr.Explain(err)
	}
	aside := filepath.Join(scratch.dir, "discarded")
	err = os.Rename(dir, aside)
	if err == nil {
		var remove bool
		if remove, err = confirm(aside); !remove {
			err = errors.Join(err, s.restore(aside, dir, digest))
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return syserr.Explain(errors.Join(err, scratch.close()))
}

// restore moves a tree back, unless another process has added the same tree meanwhile.
func (s *Store) restore(aside, dir, digest string) error {
	err := os.Rename(aside, dir)
	if err != nil && s.Has(digest) {
		return nil
	}
	return err
}
