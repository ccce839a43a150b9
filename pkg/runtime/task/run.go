package task

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/run"
)

// RunOne returns the arguments that make skillpm call [Store.Run]; the directory of a task follows them.
func RunOne() []string { return []string{"task", "run-one"} }

// spawn starts the process that runs a task. It inherits the task's lock and no other file.
func (s *Store) spawn(id string, l *lock) error {
	argv := s.o.Self
	if len(argv) == 0 {
		argv = append([]string{"skillpm"}, RunOne()...)
	}
	argv = append(slices.Clone(argv), s.Dir(id))
	cmd := exec.Command(argv[0], argv[1:]...) // found in this process's PATH
	if cmd.Err != nil {
		return cmd.Err
	}
	cmd.Dir, cmd.Env = s.Dir(id), run.Independent(s.runnerEnvironment(), id)
	return detach(cmd, l)
}

// runnerEnvironment returns the environment of the runner's process, which has the variables that a configuration
// passes on. It does not have the submitter's session.
func (s *Store) runnerEnvironment() []string {
	env := s.o.Env
	if env == nil {
		env = os.Environ() //nolint:forbidigo // the default, as that of os/exec: a process starts another
	}
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "SKILLPM_SESSION=") })
}

// Run runs a submitted task and returns when it has ended. Only the process that [Store.Submit] started for the task
// calls it.
func (s *Store) Run(ctx context.Context, id string) error {
	if !IsID(id) {
		return s.unknown(id)
	}
	l, err := inherit(s.file(id, lockFile))
	if err != nil {
		return err
	}
	defer l.close()
	run.Adopt()
	ctx, stop := s.cancellable(ctx, id)
	defer stop()
	t, err := s.read(id)
	if err != nil {
		return err
	}
	if t.State != Queued {
		return diag.Errorf(diag.Conflict, "cannot run task %s again: its state is %s, not queued", id, t.State)
	}
	r, err := s.request(id)
	if err != nil {
		return s.end(ctx, t, nil, err)
	}
	if ctx.Err() != nil {
		return s.end(ctx, t, nil, ctx.Err())
	}
	t.State, t.Started = Running, s.now()
	if err := s.write(t); err != nil {
		return err
	}
	res, err := s.command(ctx, t, r)
	return s.end(ctx, t, res, err)
}

// command runs a task's command.
func (s *Store) command(ctx context.Context, t *Task, r *request) (*run.Result, error) {
	dir := t.Project
	if !r.Runner.Project {
		dir = s.file(t.ID, workDir)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	in, err := os.Open(s.file(t.ID, inputFile))
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	return run.Run(ctx, run.Command{
		Argv: r.Runner.Command, Dir: dir, Env: s.environment(t, r), Stdin: in,
		Limit: cmp.Or(r.Runner.Limit, DefaultLimit), MaxOutput: MaxOutput,
	})
}

// environment returns the environment of a task's command: common variables, those that describe the task, and those of
// the configuration.
func (s *Store) environment(t *Task, r *request) []string {
	results := make(map[string]string)
	for _, v := range s.runnerEnvironment() {
		name, value, _ := strings.Cut(v, "=")
		results[name] = value
	}
	extra := make(map[string]string)
	for _, v := range r.Runner.Env {
		name, value, set := strings.Cut(v, "=")
		if !set {
			value, set = results[name], results[name] != ""
		}
		if set {
			extra[name] = value
		}
	}
	about := run.Variables(t.Skill, r.Dir)
	about["SKILLPM_TASK_ID"], about["SKILLPM_MODEL"], about["SKILLPM_SESSION"] = t.ID, t.Model, r.Session
	about[run.ChainName] = run.Extend(results[run.ChainName], run.Link{Kind: run.Tasked, Skill: t.exact()})
	maps.DeleteFunc(about, func(_, value string) bool { return value == "" })
	maps.Copy(extra, about)
	return run.Environment(func(name string) string { return results[name] }, extra)
}

// exact returns the exact name of a task's skill, "" for none.
func (t *Task) exact() string {
	if t.Pack == "" {
		return t.Skill
	}
	return t.Skill + "@" + t.Pack
}

// end writes and reports how a task ended.
func (s *Store) end(ctx context.Context, t *Task, res *run.Result, failed error) error {
	sweep(t.ID)
	if res != nil {
		t.ExitCode, t.Signal, t.Truncated, t.OutputBytes = &res.ExitCode, res.Signal, res.Truncated, res.StdoutSize
		if err := s.keep(t.ID, res); err != nil && failed == nil {
			failed = err
		}
	}
	s.endSession(ctx, t)
	t.Ended = s.now()
	t.State, t.Reason = s.outcome(ctx, t, res, failed)
	s.record(t, res) // record it before others can see the end
	if err := s.write(t); err != nil {
		return err
	}
	s.finish(ctx, t)
	return nil
}

// endSession ends the session of a task, whose post hooks run.
func (s *Store) endSession(ctx context.Context, t *Task) {
	if r, err := s.request(t.ID); err == nil && r.Session != "" && s.o.EndSession != nil {
		s.o.EndSession(context.WithoutCancel(ctx), r.Session, t.Project)
	}
}

// keep writes the output of a task.
func (s *Store) keep(id string, res *run.Result) error {
	o := atomicfile.Options{Mode: 0o600}
	if err := atomicfile.Write(s.file(id, outputFile), res.Stdout, o); err != nil {
		return err
	}
	errs := res.Stderr
	if len(errs) > maxErrors {
		errs = errs[len(errs)-maxErrors:]
	}
	return atomicfile.Write(s.file(id, errorsFile), errs, o)
}

// outcome returns the final state of a task, and the reason if it did not succeed.
func (s *Store) outcome(ctx context.Context, t *Task, res *run.Result, failed error) (State, string) {
	switch {
	case ctx.Err() != nil && s.has(t.ID, cancelFile):
		return Cancelled, "the task was canceled"
	case ctx.Err() != nil:
		return Lost, "a signal stopped the runner"
	case failed != nil:
		return Failed, failed.Error()
	case res.TimedOut:
		return TimedOut, fmt.Sprintf("skillpm stopped the command at the time limit, after %v", res.Duration.Round(1e6))
	case res.Signal != "":
		return Failed, "signal " + res.Signal + " stopped the command"
	case res.ExitCode != 0:
		return Failed, "the command exited with code " + strconv.Itoa(res.ExitCode)
	}
	return Succeeded, ""
}

// cancellable returns a context that ends when the task is cancelled, or the process gets a signal to end. It writes
// the process id before it looks for the cancel file; Cancel writes the file before it looks for the process id. So one
// of them sees the other.
func (s *Store) cancellable(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	ctx, stop := stopped(ctx, s.file(id, cancelFile))
	// Cancelling is only slower without the file.
	_ = atomicfile.Write(s.file(id, pidFile), []byte(strconv.Itoa(os.Getpid())), atomicfile.Options{Mode: 0o600})
	if s.has(id, cancelFile) {
		stop()
	}
	return ctx, stop
}
