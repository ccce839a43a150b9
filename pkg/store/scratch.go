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

// scratch is a directory below tmp. It belongs to the process that has locked the file of the same name, which exists
// before the directory and is removed after it.
type scratch struct {
	dir  string
	lock *flock.Flock
}

// newScratch creates a scratch directory, and removes those of processes that died.
func (s *Store) newScratch() (*scratch, error) {
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
			continue // another process swept it
		}
		dir := strings.TrimSuffix(f.Name(), lockSuffix)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(err, os.Remove(f.Name()), lock.Unlock())
		}
		return &scratch{dir: dir, lock: lock}, nil
	}
}

// tryLock locks an existing file. It returns nil if another process has locked or removed it.
func tryLock(path string) (*flock.Flock, error) {
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	locked, err := lock.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !locked {
		return nil, err
	}
	// The previous owner removes the file before it unlocks it, so this may be the lock of a removed file.
	if _, err := os.Lstat(path); err != nil {
		return nil, lock.Unlock()
	}
	return lock, nil
}

func (s *scratch) close() error {
	return errors.Join(os.RemoveAll(s.dir), release(s.lock))
}

// release removes the file of a lock and unlocks it. The second attempt is for Windows, which cannot remove an open
// file.
func release(lock *flock.Flock) error {
	_ = os.Remove(lock.Path())
	err := lock.Unlock()
	if removeErr := os.Remove(lock.Path()); !errors.Is(removeErr, fs.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	return err
}

// sweep removes the scratch directories of processes that died, and returns their number. It ignores errors.
func sweep(tmp string, dryRun bool) (swept int) {
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
		if dryRun || os.RemoveAll(strings.TrimSuffix(lock.Path(), lockSuffix)) != nil {
			_ = lock.Unlock()
			continue
		}
		_ = release(lock)
	}
	return swept
}

// minOrphanAge is the age from which a scratch directory without a lock file is removed.
const minOrphanAge = 24 * time.Hour

// sweepOrphans removes old scratch directories without a lock file, and returns their number.
func sweepOrphans(tmp string, now time.Time, dryRun bool) (swept int) {
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
		if info, err := os.Lstat(dir); err != nil || now.Sub(info.ModTime()) < minOrphanAge {
			continue
		}
		if swept++; !dryRun {
			_ = os.RemoveAll(dir)
		}
	}
	return swept
}
