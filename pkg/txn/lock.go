package txn

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillpm/skillpm/pkg/diag"
)

// lockPoll is how often a lock that somebody else holds is tried again.
const lockPoll = 20 * time.Millisecond

// Lock takes the kernel's lock on the file at path, which it creates, and waits until it has it or ctx ends. The lock
// ends with unlock, or with the process, however that ends; the file stays.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Denied, "lock %s is not a regular file", path)
	}
	lock := flock.New(path)
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return nil, err
	}
	return lock.Unlock, nil
}
