package task

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/windows"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// starting is the suffix of a second lock file. Windows processes cannot inherit a lock, so the submitter holds the
// second lock until the runner has taken the first.
const starting = ".start"

// lock is one of the two locks.
type lock struct{ l *flock.Flock }

func (l *lock) close() { _ = l.l.Close() }

func hold(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	l := flock.New(path+starting, flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err == nil && !got {
		err = diag.Errorf(diag.Conflict, "another process has locked %s", path+starting)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return &lock{l}, nil
}

func inherit(path string) (*lock, error) {
	l := flock.New(path)
	got, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !got {
		return nil, diag.Errorf(diag.Conflict, "the task is already running")
	}
	_ = os.Stdout.Close() // signals the submitter
	return &lock{l}, nil
}

func free(path string) bool {
	for _, name := range []string{path + starting, path} {
		l := flock.New(name, flock.SetFlag(os.O_RDWR))
		got, err := l.TryRLock()
		_ = l.Close()
		if !got && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

func await(ctx context.Context, path string) error {
	for _, name := range []string{path + starting, path} {
		l := flock.New(name, flock.SetFlag(os.O_RDWR))
		got, err := l.TryRLockContext(ctx, poll)
		if err == nil && !got {
			err = diag.Errorf(diag.Internal, "cannot lock %s", name)
		}
		if err := errors.Join(err, l.Close()); err != nil {
			return err
		}
	}
	return nil
}

// detach starts a process without a console, and waits until it has the lock or has ended.
func detach(cmd *exec.Cmd, _ *lock) error {
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, ready)
	bug.Go(func() { _ = cmd.Wait() })
	return err
}

// stopped returns a context that ends when the cancel file exists.
func stopped(ctx context.Context, file string) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	bug.Go(func() {
		for ticker := time.NewTicker(poll); ; {
			select {
			case <-ctx.Done():
				ticker.Stop()
				return
			case <-ticker.C:
				if _, err := os.Lstat(file); err == nil {
					stop()
				}
			}
		}
	})
	return ctx, stop
}

// send ends a runner. A runner here polls for the cancel file, so that no signal is needed for that.
func send(p *os.Process, sig os.Signal) {
	if sig == os.Kill {
		_ = p.Kill()
	}
}
