package task

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// resolve returns the current state of a task. If the runner is gone, it marks the task as lost, or as cancelled if it
// was cancelled before it began. It reports the end if that was not done.
func (s *Store) resolve(ctx context.Context, id string) (*Task, error) {
	if !free(s.file(id, lockFile)) {
		return s.read(id)
	}
	// The runner is gone. This lock lets one process mark the task.
	unlock, err := lockBriefly(ctx, s.file(id, resolveFile))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, s.unknown(id)
		}
		return nil, err
	}
	t, err := s.markLost(ctx, id)
	unlock()
	if err == nil {
		s.finish(ctx, t)
	}
	return t, err
}

// markLost writes the final state of a task without a runner.
func (s *Store) markLost(ctx context.Context, id string) (*Task, error) {
	t, err := s.read(id)
	if err != nil || t.State.Ended() {
		return t, err
	}
	sweep(id)
	s.endSession(ctx, t)
	t.State, t.Ended, t.Reason = Lost, s.now(), "the runner was killed, or the machine was turned off"
	if s.has(id, cancelFile) {
		t.State, t.Reason = Cancelled, "the task was canceled"
	}
	s.record(t, nil) // record it before others can see the end
	if err := s.write(t); err != nil {
		return nil, err
	}
	return t, nil
}

func (s *Store) has(id, name string) bool {
	_, err := os.Lstat(s.file(id, name))
	return err == nil
}

// Wait returns a task when it has ended, or the error of ctx. It blocks on the task's lock and does not poll.
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

// OnEnd calls notify once, in a new goroutine, when a task has ended, unless ctx ends before. Long-running processes
// such as an MCP server report their tasks with it.
func (s *Store) OnEnd(ctx context.Context, id string, notify func(*Task, error)) {
	bug.Go(func() {
		t, err := s.Wait(ctx, id)
		if ctx.Err() == nil {
			notify(t, err)
		}
	})
}

// patience is how long a runner has to end its task before it is killed.
const patience = 10 * time.Second

// Cancel ends a task that has not ended, and returns its state.
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
			WithHint("end the process that has %s open; find the process with: fuser %s", lockFile, s.file(id,
				lockFile))
	}
	return t, err
}

// signal signals the runner of a task to look for the cancel file, or ends it. A runner that has not written its
// process id yet looks for the file afterwards.
//
// The process id may be outdated. On Linux, signal checks that this process has the lock file open. Elsewhere it only
// checks that some process holds the lock.
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
