package txn

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillpm/skillpm/pkg/diag"
)

// lockPoll is how often a lock that somebody else holds is tried again.
const lockPoll = 20 * time.Millisecond

// Lock takes the kernel's lock on the file at path, which it creates, and waits until it has it or ctx ends. The lock
// ends with unlock, or with the process, however that ends; the file stays. Neither the file nor its directory may be
// a link: the error is Denied, and nothing is created elsewhere.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	if err := lockDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Denied, "lock %s is not a regular file", path)
	}
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|openNoFollow))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return nil, err
	}
	return lock.Unlock, nil
}

// lockDir makes a lock's directory, if nothing is there.
func lockDir(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		info, err = os.Lstat(dir)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return diag.Errorf(diag.Denied, "%s is not a directory", dir).
			WithHint("move it away: skillpm follows no links to its own directory")
	}
	return nil
}
