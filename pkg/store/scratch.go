package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	scratchPrefix = "w-"
	lockSuffix    = ".lock"
)

// scratch is a directory below tmp that belongs to one writer as long as it holds the lock on the file of the same
// name. The file is there before the directory and goes after it.
type scratch struct {
	dir  string
	lock *flock.Flock
}

// scratch makes a directory of its own below tmp, and removes those whose writers are gone.
func (s *Store) scratch() (*scratch, error) {
	tmp := filepath.Join(s.dir, tmpName)
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return nil, err
	}
	sweep(tmp, false)
	for {
		f, err := os.CreateTemp(tmp, scratchPrefix+"*"+lockSuffix)
		if err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
		lock, err := tryLock(f.Name())
		if err != nil {
			return nil, err
		}
		if lock == nil {
			continue // a sweeper was faster, so there is another one to be had
		}
		dir := strings.TrimSuffix(f.Name(), lockSuffix)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(err, os.Remove(f.Name()), lock.Unlock())
		}
		return &scratch{dir: dir, lock: lock}, nil
	}
}

// tryLock locks a file, which must be there. It returns nil if somebody else has locked or removed it.
func tryLock(path string) (*flock.Flock, error) {
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	locked, err := lock.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !locked {
		return nil, err
	}
	// Who has the lock removes the file before it unlocks: then this is a lock on nothing.
	if _, err := os.Lstat(path); err != nil {
		return nil, lock.Unlock()
	}
	return lock, nil
}

func (s *scratch) close() error {
	return errors.Join(os.RemoveAll(s.dir), release(s.lock))
}

// release removes and unlocks a lock's file. Windows does not remove a file that is open.
func release(lock *flock.Flock) error {
	_ = os.Remove(lock.Path())
	err := lock.Unlock()
	if removeErr := os.Remove(lock.Path()); !errors.Is(removeErr, fs.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	return err
}

// sweep removes what writers left that are gone, and returns how many. What can't be removed stays for the next one.
func sweep(tmp string, dry bool) (swept int) {
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), scratchPrefix) || !strings.HasSuffix(e.Name(), lockSuffix) {
			continue
		}
		lock, err := tryLock(filepath.Join(tmp, e.Name()))
		if err != nil || lock == nil {
			continue
		}
		swept++
		if dry || os.RemoveAll(strings.TrimSuffix(lock.Path(), lockSuffix)) != nil {
			_ = lock.Unlock()
			continue
		}
		_ = release(lock)
	}
	return swept
}

// strayAfter is how old a directory without a lock's file must be to be removed: no writer leaves one.
const strayAfter = 24 * time.Hour

// sweepStrays removes writers' directories whose locks' files somebody has removed, and returns how many.
func sweepStrays(tmp string, now time.Time, dry bool) (swept int) {
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		dir := filepath.Join(tmp, e.Name())
		if _, err := os.Lstat(dir + lockSuffix); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if info, err := os.Lstat(dir); err != nil || now.Sub(info.ModTime()) < strayAfter {
			continue
		}
		if swept++; !dry {
			_ = os.RemoveAll(dir)
		}
	}
	return swept
}
