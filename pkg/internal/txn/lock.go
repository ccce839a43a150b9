package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/activity"
)

// lockPoll is the interval between attempts to take a lock.
const lockPoll = 20 * time.Millisecond

// noticeAfter is the delay before a wait for a lock is reported.
const noticeAfter = time.Second

// Lock creates the file at path and takes the kernel's lock on it. It waits until it has the lock or ctx ends, and
// reports to the context's observer of activity which process has the lock. The lock ends with unlock or with the
// process. The file stays; its existence means nothing. Neither the file nor its directory may be a link: the error is
// Denied, and nothing is created elsewhere.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	file, err := createLock(path)
	if err != nil {
		return nil, explain(path, err)
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY|openNoFollow))
	if err := awaitLock(ctx, lock, path); err != nil {
		return nil, explain(path, err)
	}
	if locked, err := lock.Stat(); err != nil || !os.SameFile(file, locked) {
		return nil, errors.Join(replaced(path), lock.Unlock())
	}
	return lock.Unlock, nil
}

// createLock creates the file of a lock if it does not exist, in the directory that lockDir has checked, whatever
// replaces that meanwhile.
func createLock(path string) (fs.FileInfo, error) {
	dir, err := lockDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	name := filepath.Base(path)
	if info, err := dir.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Denied, "the lock %s is not a regular file", path).
			WithHint("remove %s, then run the command again", path)
	}
	file, err := dir.OpenFile(name, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Stat()
}

func replaced(path string) error {
	return diag.Errorf(diag.Conflict, "%s was replaced while skillpm used it", path).WithHint("run the command again")
}

// awaitLock polls a lock until it has it or ctx ends.
func awaitLock(ctx context.Context, lock *flock.Flock, path string) error {
	var notice <-chan time.Time // nil until the first attempt failed
	var wait *activity.Wait
	defer func() { wait.End() }()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if locked, err := lock.TryLock(); err != nil || locked {
			return err
		}
		if notice == nil {
			notice = time.After(noticeAfter)
		}
		select {
		case <-ctx.Done():
		case <-notice:
			wait = activity.Begin(ctx, &activity.Wait{Source: holder(path)})
		case <-time.After(lockPoll):
		}
	}
}

// holder describes the process that has the lock on a file.
func holder(path string) string {
	if pid := lockHolder(path); pid > 0 {
		return fmt.Sprintf("another skillpm process (pid %d)", pid)
	}
	return "another skillpm process"
}

// lockDir creates the directory of a lock if it does not exist, and opens it if it is not a link.
func lockDir(dir string) (*os.Root, error) {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		info, err = os.Lstat(dir)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, diag.Errorf(diag.Denied, "%s is not a directory", dir).
			WithHint("move the file or link away: skillpm does not follow links to its own directory")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		return nil, errors.Join(replaced(dir), root.Close())
	}
	return root, nil
}
