package task

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// Keep is how long an ended task is kept.
const Keep = 30 * 24 * time.Hour

// Options configure a [Store].
type Options struct {
	// Runner returns the runner for a kind of task, as [pack.Config.Runner] does. Submit needs it.
	Runner func(kind string) (pack.Runner, error)

	// Self is the program, with its first arguments, that calls [Store.Run]; the directory of a task follows as the
	// last argument. If nil, it is skillpm in PATH with [RunOne], because this program may be any embedder.
	Self []string

	Env []string         // environment of that process; nil is this process's
	Now func() time.Time // clock; required

	// Audit returns the log that gets a record at the end of a task of a project; it may be nil, and return nil.
	Audit func(project string) *audit.Log

	// EndSession ends the session of a task that has ended, before others can see the end; nil ends none.
	EndSession func(ctx context.Context, id, project string)
}

// Store is a directory of tasks. Concurrent use, also by several processes, is safe.
type Store struct {
	dir string
	o   Options
}

// Open returns the store in a directory, which need not exist yet.
func Open(dir string, o Options) *Store { return &Store{dir: dir, o: o} }

// Submit starts a task and returns at once. The error has code NotFound if no runner is configured for it.
func (s *Store) Submit(ctx context.Context, r Request) (*Task, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(r.Body) > MaxBody {
		return nil, diag.Errorf(diag.Invalid, "the task's text has %d bytes; the limit is %d", len(r.Body),
			MaxBody)
	}
	if strings.TrimSpace(r.Body) == "" {
		return nil, diag.Errorf(diag.Invalid, "the text of the task is empty")
	}
	r.Agent = cmp.Or(r.Agent, pack.DefaultRunner)
	runner, err := s.o.Runner(r.Agent)
	if err != nil {
		return nil, err
	}
	if runner.Project && r.Project == "" {
		return nil, diag.Errorf(diag.Usage, "runner %q needs a project, but the current directory is not in a project",
			r.Agent).
			WithHint("run the command in a project, or remove directory: project from runners.%s", r.Agent)
	}
	s.gc()
	t, lock, err := s.create(r, runner)
	if err != nil {
		return nil, err
	}
	defer lock.close()
	if err := s.spawn(t.ID, lock); err != nil {
		_ = os.RemoveAll(s.Dir(t.ID)) // no other process can know the task
		return nil, diag.Errorf(diag.Internal, "cannot start the process that runs tasks: %w", err)
	}
	return t, nil
}

func (s *Store) now() *time.Time {
	now := s.o.Now().UTC().Truncate(time.Millisecond)
	return &now
}

// create writes a locked task, and makes it visible when it is complete.
func (s *Store) create(r Request, runner pack.Runner) (*Task, *lock, error) {
	now := s.now()
	t := &Task{
		ID: NewID(*now), State: Queued, Skill: r.Skill, Pack: r.Pack, Agent: r.Agent, Model: r.Model,
		Project: r.Project, Created: *now,
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, nil, err
	}
	hidden := filepath.Join(s.dir, newPrefix+t.ID)
	l, err := s.fill(hidden, t, r, runner)
	if err == nil {
		if err = os.Rename(hidden, s.Dir(t.ID)); err == nil {
			return t, l, nil
		}
		l.close()
	}
	_ = os.RemoveAll(hidden) // the first error counts
	return nil, nil, err
}

func (s *Store) fill(dir string, t *Task, r Request, runner pack.Runner) (*lock, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	err := errors.Join(
		atomicfile.Write(filepath.Join(dir, inputFile), []byte(r.Body), atomicfile.Options{Mode: 0o600}),
		// Writes need no fsync: a task that is not on disk when the machine stops is lost in any case.
		writeJSON(filepath.Join(dir, requestFile), request{Version: version, Dir: r.Dir, Session: r.Session, Runner: runner}, false),
		writeJSON(filepath.Join(dir, stateFile), state{Version: version, Task: *t}, false),
	)
	if err != nil {
		return nil, err
	}
	return hold(filepath.Join(dir, lockFile))
}

// Directories with these prefixes are not tasks: they are being created or removed.
const (
	newPrefix = ".new-"
	oldPrefix = ".old-"
)

// List returns all tasks, the newest first, and an error for each task that cannot be read.
func (s *Store) List(ctx context.Context) (tasks []*Task, problems []error, err error) {
	ids, err := s.ids()
	if err != nil {
		return nil, nil, err
	}
	slices.Reverse(ids)
	for _, id := range ids {
		t, err := s.Find(ctx, id)
		if err == nil {
			tasks = append(tasks, t)
		} else if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		} else if diag.CodeOf(err) != diag.NotFound { // removed meanwhile
			problems = append(problems, err)
		}
	}
	return tasks, problems, nil
}

// Current returns all readable tasks as stored, the newest first. It changes and reports nothing, so that a task may
// still be listed as running although its runner is gone.
func (s *Store) Current() []*Task {
	ids, _ := s.ids() // an unreadable store has no tasks
	var tasks []*Task
	for _, id := range slices.Backward(ids) {
		if t, err := s.read(id); err == nil {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// ids returns the ids of all tasks, the oldest first.
func (s *Store) ids() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && IsID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// Find returns a task with its current state. It marks a task whose runner is gone as lost.
func (s *Store) Find(ctx context.Context, id string) (*Task, error) {
	if !IsID(id) {
		return nil, s.unknown(id)
	}
	t, err := s.read(id)
	if err != nil || t.State.Ended() && s.isNotified(id) {
		return t, err
	}
	return s.resolve(ctx, id)
}

func (s *Store) unknown(id string) error {
	err := diag.Errorf(diag.NotFound, "task %q does not exist", id)
	ids, _ := s.ids() // only the hint needs them
	if near := diag.Nearest(id, ids); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("list tasks with: skillpm task list (skillpm removes a task %d days after its end)",
		Keep/(24*time.Hour))
}

// gc removes tasks that ended long ago, and incomplete ones of killed processes. It ignores failures.
func (s *Store) gc() {
	entries, _ := os.ReadDir(s.dir)
	now := s.o.Now()
	before := now.Add(-Keep)
	for _, e := range entries {
		name := e.Name()
		if id, ok := strings.CutPrefix(name, newPrefix); ok && IsID(id) && createdAt(id).Before(now.Add(-time.Hour)) {
			_ = os.RemoveAll(filepath.Join(s.dir, name))
		}
		if strings.HasPrefix(name, oldPrefix) {
			_ = os.RemoveAll(filepath.Join(s.dir, name))
		}
		if !IsID(name) || !createdAt(name).Before(before) {
			continue
		}
		t, err := s.read(name) // damaged tasks are also removed
		if err == nil && (!t.State.Ended() || !t.Ended.Before(before)) || !free(s.file(name, lockFile)) {
			continue
		}
		if old := filepath.Join(s.dir, oldPrefix+name); os.Rename(s.Dir(name), old) == nil {
			_ = os.RemoveAll(old)
		}
	}
}

// createdAt returns the time of an id.
func createdAt(id string) time.Time {
	t, _ := time.Parse(idTime, id[:15]+"."+id[16:19]) // ids have a valid form
	return t
}
