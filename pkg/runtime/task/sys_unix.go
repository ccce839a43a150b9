//go:build !windows

package task

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
)

// lock is the runner's lock on a task. It belongs to an open file, and so to all processes that have inherited that.
type lock struct{ f *os.File }

func (l *lock) close() { _ = l.f.Close() }

// hold creates a lock file and takes the lock, for a task that is not visible yet.
func hold(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := systemLock(f, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return &lock{f}, nil
}

// inherited is the number of the first file that a process inherits besides its standard streams.
const inherited = 3

// inherit returns the lock that this process inherited.
func inherit(path string) (*lock, error) {
	want, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	var stat syscall.Stat_t // the number may belong to another file, which must stay open
	err = syscall.Fstat(inherited, &stat)
	if info, ok := want.Sys().(*syscall.Stat_t); err != nil || !ok || stat.Dev != info.Dev || stat.Ino != info.Ino {
		return nil, diag.Errorf(diag.Usage, "skillpm did not start this process to run a task").
			WithHint("start a task with: skillpm task submit")
	}
	syscall.CloseOnExec(inherited)
	return &lock{os.NewFile(inherited, path)}, nil
}

// free reports whether no process holds the runner's lock. It takes a shared lock, so that processes that test at the
// same time don't take each other for a runner. A file that cannot be opened is not free.
func free(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer func() { _ = f.Close() }() // releases the lock
	return systemLock(f, syscall.LOCK_SH|syscall.LOCK_NB) == nil
}

// await waits until the runner's lock is free. If ctx ends before, a thread stays blocked in the kernel until then.
func await(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	result := make(chan error, 1)
	bug.Go(func() {
		err := systemLock(f, syscall.LOCK_SH)
		_ = f.Close()
		result <- err
	})
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func systemLock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// detach starts a process in its own session, without standard streams, that inherits the lock.
func detach(cmd *exec.Cmd, l *lock) error {
	cmd.ExtraFiles = []*os.File{l.f}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	bug.Go(func() { _ = cmd.Wait() }) // reaps the process if this one lives longer
	return nil
}

// stopped returns a context that ends when this process gets a signal to end. Until stop is called, such signals do not
// end the process.
func stopped(ctx context.Context, _ string) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
}

// send signals a runner to look for the cancel file, or ends it.
func send(p *os.Process, sig os.Signal) {
	if sig == os.Interrupt {
		sig = syscall.SIGTERM
	}
	_ = p.Signal(sig)
}
