package runtime

import (
	"context"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/runtime/task"
)

// Task is a skill that runs apart from the conversation.
type Task struct {
	ID string
	session.Fork
}

// TaskResult is what a task returns to the conversation.
type TaskResult struct{ Output string }

// TaskEnd reports that a task has ended.
type TaskEnd struct {
	Task   Task
	Result TaskResult
	Err    error // why it failed, nil if it succeeded
}

// Runner runs tasks in the process of the agent. The body of a task is its only input. The runner checks the tool calls
// in the task with [Host.InTask], so that the tool lists of the skill and of its caller apply. When Run returns, the
// post hook of the skill runs, and the session of the task ends.
type Runner interface {
	Run(ctx context.Context, t Task) (TaskResult, error)
}

// running is a task in this process.
type running struct {
	done chan struct{} // closed at its end
	end  TaskEnd
}

// InTask returns the session in which the tool calls of a task are checked.
func (h *Host) InTask(t Task) *session.Session { return h.session.Other(t.Session) }

// Wait returns how a task ended when it has ended. The error is that of ctx, or has code NotFound.
func (h *Host) Wait(ctx context.Context, id string) (TaskEnd, error) {
	h.mu.Lock()
	r := h.running[id]
	h.mu.Unlock()
	if r != nil {
		select {
		case <-r.done:
			return r.end, nil
		case <-ctx.Done():
			return TaskEnd{}, ctx.Err()
		}
	}
	t, err := h.tasks.Wait(ctx, id)
	if err != nil {
		return TaskEnd{}, err
	}
	output, err := h.tasks.Output(id)
	end := TaskEnd{Task: Task{ID: id}, Result: TaskResult{string(output)}, Err: err}
	end.Task.Skill, end.Task.Pack, end.Task.Agent, end.Task.Model, end.Task.Project = t.Skill, t.Pack, t.Agent, t.Model, t.Project
	if t.State != task.Succeeded && err == nil {
		end.Err = diag.Errorf(diag.Internal, "task %s ended as %s: %s", id, t.State, t.Reason)
	}
	return end, nil
}

// checkRunner returns why no runner can run tasks of a kind of agent.
func (h *Host) checkRunner(agent string) error {
	if h.o.Runner != nil {
		return nil
	}
	_, err := h.config.Runner(agent)
	return err
}

// submit starts a skill as a task and returns the task's id.
func (h *Host) submit(ctx context.Context, f session.Fork) (string, error) {
	if h.o.Runner != nil {
		return h.start(ctx, f), nil
	}
	t, err := h.tasks.Submit(ctx, task.Request{
		Skill: f.Skill, Pack: f.Pack, Dir: f.Dir, Agent: f.Agent, Model: f.Model, Project: f.Project, Body: f.Body,
		Session: f.Session,
	})
	if err != nil {
		return "", err
	}
	return t.ID, nil
}

// start runs a task in this process. It outlives the call that starts it.
func (h *Host) start(ctx context.Context, f session.Fork) (id string) {
	r := &running{done: make(chan struct{}), end: TaskEnd{Task: Task{ID: task.NewID(h.o.Now()), Fork: f}}}
	h.mu.Lock()
	if h.running == nil {
		h.running = map[string]*running{}
	}
	h.running[r.end.Task.ID] = r
	h.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	bug.Go(func() {
		began := h.o.Now()
		r.end.Result, r.end.Err = h.o.Runner.Run(ctx, r.end.Task)
		h.endTask(ctx, f.Session, f.Project)
		record := audit.Record{
			Action: audit.TaskEnd, Result: audit.OK, Skill: f.Skill, Pack: f.Pack, Project: f.Project, Agent: f.Agent,
			Task: r.end.Task.ID, DurationMS: h.o.Now().Sub(began).Milliseconds(),
		}
		if r.end.Err != nil {
			record.Result, record.Reason = audit.Failed, r.end.Err.Error()
		}
		_ = h.audit.Write(record) // the task's result does not depend on the log
		close(r.done)
		if h.o.Notify != nil {
			h.o.Notify(r.end)
		}
	})
	return r.end.Task.ID
}

// endTask ends the session of a task, with the policies of its project. Its hooks record their own failures.
func (h *Host) endTask(ctx context.Context, id, project string) {
	s := h.session.Other(id)
	if project != "" && project != h.project {
		o := h.o
		o.Dir, o.Session = project, id
		if other, err := New(ctx, o); err == nil {
			s = other.Session()
		}
	}
	_, _ = s.End(ctx)
}
