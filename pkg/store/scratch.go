package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// scratch is a directory below tmp that belongs to one writer as long as it holds its lock.
type scratch struct {
	dir  string
	lock *flock.Flock
}

const lockName = "lock"

// scratch makes a directory of its own below tmp, and removes those whose writers are gone.
func (s *Store) scratch() (*scratch, error) {
	tmp := filepath.Join(s.dir, tmpName)
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return nil, err
	}
	sweep(tmp)
	for {
		dir, err := os.MkdirTemp(tmp, "w-")
		if err != nil {
			return nil, err
		}
		lock := flock.New(filepath.Join(dir, lockName))
		locked, err := lock.TryLock()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		// Between making and locking a sweeper may take the directory: then there is another one to be had.
		if _, err := os.Lstat(lock.Path()); locked && err == nil {
			return &scratch{dir: dir, lock: lock}, nil
		}
		_ = lock.Unlock()
	}
}

func (s *scratch) close() error {
	return errors.Join(s.lock.Unlock(), os.RemoveAll(s.dir))
}

// sweep removes what writers left that are gone. What can't be removed stays for the next one.
func sweep(tmp string) {
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(tmp, e.Name())
		path := filepath.Join(dir, lockName)
		if _, err := os.Lstat(path); err != nil || !strings.HasPrefix(e.Name(), "w-") {
			continue
		}
		lock := flock.New(path)
		if locked, err := lock.TryLock(); err != nil || !locked {
			continue
		}
		_ = os.RemoveAll(dir)
		_ = lock.Unlock()
		_ = os.RemoveAll(dir) // Windows does not remove a file that is open
	}
}
