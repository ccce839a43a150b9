package task

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// resolve says what has become of a task: if it has not ended and its runner is gone, it is lost, or was cancelled
// before it could begin. Its end is told if that was not done.
func (s *Store) resolve(ctx context.Context, id string) (*Task, error) {
	if !free(s.file(id, lockFile)) {
		return s.read(id)
	}
	// From here on no runner can write. Of several that look, one says what is.
	unlock, err := lockBriefly(ctx, s.file(id, resolveFile))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, s.unknown(id)
		}
		return nil, err
	}
	t, err := s.markLost(id)
	unlock()
	if err == nil {
		s.finish(ctx, t)
	}
	return t, err
}

// markLost says how a task has ended that nobody runs.
func (s *Store) markLost(id string) (*Task, error) {
	t, err := s.read(id)
	if err != nil || t.State.Ended() {
		return t, err
	}
	sweep(id)
	t.State, t.Ended, t.Reason = Lost, s.now(), "its runner was killed, or the machine was turned off"
	if s.has(id, cancelFile) {
		t.State, t.Reason = Cancelled, "it was cancelled"
	}
	s.record(t, nil) // before anybody can see the end
	if err := s.write(t); err != nil {
		return nil, err
	}
	return t, nil
}

func (s *Store) has(id, name string) bool {
	_, err := os.Lstat(s.file(id, name))
	return err == nil
}

// Wait returns a task when it has ended, or the error of ctx. It sleeps until the kernel gives it the task's lock.
func (s *Store) Wait(ctx context.Context, id string) (*Task, error) {
	t, err := s.Find(ctx, id)
	if err != nil || t.State.Ended() {
		return t, err
	}
	if err := await(ctx, s.file(id, lockFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, s.unknown(id)
		}
		return nil, err
	}
	return s.Find(ctx, id)
}

// OnEnd calls a function once with a task that has ended, in a goroutine of its own, unless ctx ends before. It is how
// a process that lives on, as a server of MCP, tells its client of what it submitted.
func (s *Store) OnEnd(ctx context.Context, id string, notify func(*Task, error)) {
	go func() {
		t, err := s.Wait(ctx, id)
		if ctx.Err() == nil {
			notify(t, err)
		}
	}()
}

// patience is how long a runner has to end its task before it is killed.
const patience = 10 * time.Second

// Cancel ends a task, if it has not ended, and returns how it stands then. What has ended stays as it is.
func (s *Store) Cancel(ctx context.Context, id string) (*Task, error) {
	t, err := s.Find(ctx, id)
	if err != nil || t.State.Ended() {
		return t, err
	}
	f, err := os.OpenFile(s.file(id, cancelFile), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	s.signal(id, os.Interrupt)
	within, stop := context.WithTimeout(ctx, patience)
	defer stop()
	t, err = s.Wait(within, id)
	if err == nil || ctx.Err() != nil {
		return t, err
	}
	s.signal(id, os.Kill)
	within, stop = context.WithTimeout(ctx, patience)
	defer stop()
	if t, err = s.Wait(within, id); err != nil && ctx.Err() == nil && within.Err() != nil {
		return nil, diag.Errorf(diag.Internal, "the runner of task %s does not end", id).
			WithHint("the process that has %s open is to be ended by hand: fuser %s", lockFile, s.file(id, lockFile))
	}
	return t, err
}

// signal has the runner of a task look for the file that cancels it, or ends it. A runner that has not written its
// number yet looks for the file after it has.
//
// The number is that of the runner: a process is opened by it, and it is that process that holds the lock. Which
// process does only Linux tells. Elsewhere the lock is found to be held still, by whom the file says.
func (s *Store) signal(id string, sig os.Signal) {
	data, err := safefile.ReadFile(s.file(id, pidFile), 100)
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(string(data))
	if err != nil || pid <= 1 {
		return
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if lock := s.file(id, lockFile); !free(lock) && holds(pid, lock) {
		send(p, sig)
	}
}
