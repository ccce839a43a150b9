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

// lockPoll is the interval between attempts to take a lock.
const lockPoll = 20 * time.Millisecond

// noticeAfter is the delay before Notice.Waiting is called.
const noticeAfter = time.Second

// Notice configures what happens while [LockNotice] waits.
type Notice struct {
	Waiting func()                               // called once, after a second of waiting; may be nil
	After   func(time.Duration) <-chan time.Time // nil for [time.After]
}

// Lock creates the file at path and takes the kernel's lock on it. It waits until it has the lock or ctx ends. The lock
// ends with unlock or with the process. The file stays; its existence means nothing. Neither the file nor its directory
// may be a link: the error is Denied, and nothing is created elsewhere.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	return LockNotice(ctx, path, Notice{})
}

// LockNotice is like [Lock], with a notice while it waits.
func LockNotice(ctx context.Context, path string, n Notice) (unlock func() error, err error) {
	if err := lockDir(filepath.Dir(path)); err != nil {
		return nil, explain(path, err)
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, diag.Errorf(diag.Denied, "lock %s is not a regular file", path)
	}
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|openNoFollow))
	if err := n.wait(ctx, lock); err != nil {
		return nil, explain(path, err)
	}
	return lock.Unlock, nil
}

// wait polls a lock until it has it or ctx ends.
func (n Notice) wait(ctx context.Context, lock *flock.Flock) error {
	after := n.After
	if after == nil {
		after = time.After
	}
	var notice <-chan time.Time
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if locked, err := lock.TryLock(); err != nil || locked {
			return err
		}
		if notice == nil && n.Waiting != nil {
			notice = after(noticeAfter)
		}
		select {
		case <-ctx.Done():
		case <-notice:
			n.Waiting()
			n.Waiting, notice = nil, nil
		case <-time.After(lockPoll):
		}
	}
}

// lockDir creates the directory of a lock if it does not exist.
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
