package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// The limits of notifications.
const (
	notifyLimit = 30 * time.Second
	lockLimit   = 10 * time.Second      // maximum wait for a lock that is held only during a short write
	poll        = 10 * time.Millisecond // interval of polling
	maxNotified = 16 << 10              // bytes of the output in a notification
)

// Notification reports the end of a task.
type Notification struct {
	*Task
	Output string `json:"output"` // its beginning; the store has more
	Cut    bool   `json:"outputCut,omitempty"`
}

// Notification returns the notification about a task.
func (s *Store) Notification(t *Task) (*Notification, error) {
	data, err := s.Output(t.ID)
	n := &Notification{Task: t}
	if len(data) > maxNotified {
		data, n.Cut = data[:maxNotified], true
	}
	n.Output = string(bytes.ToValidUTF8(data, []byte("\ufffd")))
	return n, err
}

// isNotified reports whether the end of a task has been reported, or is being reported.
func (s *Store) isNotified(id string) bool { return s.has(id, notifiedFile) }

// finish reports the end of a task, also of a cancelled one. It writes the mark first, so that no end is reported
// twice; a process that is killed in between reports nothing.
func (s *Store) finish(ctx context.Context, t *Task) {
	ctx = context.WithoutCancel(ctx)
	f, err := os.OpenFile(s.file(t.ID, notifiedFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_ = f.Close()
	r, err := s.request(t.ID)
	if err != nil {
		return
	}
	n, _ := s.Notification(t) // without output if that cannot be read
	line, err := json.Marshal(n)
	if err != nil {
		return
	}
	var problems []error
	if r.Runner.Notify.File != "" {
		problems = append(problems, appendLine(ctx, r.Runner.Notify.File, line))
	}
	if len(r.Runner.Notify.Command) > 0 {
		problems = append(problems, s.call(ctx, t, r, line))
	}
	if err := errors.Join(problems...); err != nil {
		_ = os.WriteFile(s.file(t.ID, notifiedFile), []byte(err.Error()+"\n"), 0o600) // records the reason
	}
}

// call runs a command with a line as its standard input, in the environment that the task had.
func (s *Store) call(ctx context.Context, t *Task, r *request, line []byte) error {
	res, err := run.Run(ctx, run.Command{
		Argv: r.Runner.Notify.Command, Dir: s.Dir(t.ID), Env: s.environment(t, r),
		Stdin: bytes.NewReader(append(line, '\n')),
		Limit: notifyLimit, MaxOutput: maxNotified,
	})
	if err != nil {
		return err
	}
	if res.ExitCode != 0 {
		return errors.New("the notification command failed: " + string(res.Stderr))
	}
	return nil
}

// appendLine adds a line to a file that other processes also append to.
func appendLine(ctx context.Context, path string, line []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	unlock, err := lockBriefly(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would block
		return diag.Errorf(diag.Invalid, "%s is not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(append(line, '\n'))
	return err
}

// lockBriefly takes a lock that others hold only for short times.
func lockBriefly(ctx context.Context, path string) (unlock func(), err error) {
	within, stop := context.WithTimeout(ctx, lockLimit)
	defer stop()
	l := flock.New(path, flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(within, poll); err != nil {
		_ = l.Close() // the lock was not taken
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = diag.Errorf(diag.Internal, "another process has locked %s and does not release the lock", path).
				WithHint("find the process with: fuser %s", path)
		}
		return nil, err
	}
	return func() { _ = l.Close() }, nil
}

// record writes the end of a task to the audit log.
func (s *Store) record(t *Task, res *run.Result) {
	r := audit.Record{
		Action: audit.TaskEnd, Result: audit.Failed, Skill: t.Skill, Pack: t.Pack, Project: t.Project, Agent: t.Agent,
		Task:     t.ID,
		ExitCode: t.ExitCode, Reason: t.Reason,
	}
	switch t.State {
	case Succeeded:
		r.Result = audit.OK
	case TimedOut:
		r.Result = audit.Timeout
	case Cancelled, Lost:
		r.Reason = string(t.State) + ": " + t.Reason
	}
	if res != nil {
		r.DurationMS, r.Output, r.OutputBytes = res.Duration.Milliseconds(), res.StdoutSum, res.StdoutSize
	}
	if s.o.Audit == nil {
		return
	}
	_ = s.o.Audit(t.Project).Write(r) // the task's own state does not depend on the log
}
