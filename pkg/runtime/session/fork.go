package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// taskPrefix begins the ids of the sessions of tasks.
const taskPrefix = "task-"

// IsTask reports whether a session is that of a task.
func IsTask(id string) bool { return strings.HasPrefix(id, taskPrefix) }

// RunnerError reports that a skill runs as a task, but no runner is configured for it.
type RunnerError struct {
	Skill string
	Err   error // why there is no runner; nil if there is none at all
}

// Error names the skill.
func (e *RunnerError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("cannot run skill %q as a task: %v", e.Skill, e.Err)
	}
	return fmt.Sprintf("cannot run skill %q as a task: no runner is configured", e.Skill)
}

// Unwrap returns why there is no runner.
func (e *RunnerError) Unwrap() error { return e.Err }

// Code is NotFound.
func (e *RunnerError) Code() diag.Code { return diag.NotFound }

// Hint suggests to configure a runner.
func (e *RunnerError) Hint() string {
	return cmp.Or(diag.HintOf(e.Err),
		"configure a runner under runners in config.yaml, or activate the skill with --inline")
}

// ModelHint says what the model can do.
func (e *RunnerError) ModelHint() (string, bool) {
	return "tell the user that no runner is configured", true
}

// fork runs a skill as a task. The skill is not active in this session and restricts nothing here. The task has a
// session of its own, in which the skill and those that are active here restrict the tools.
func (s *Session) fork(ctx context.Context, a *Activation, l *catalog.Loaded, o Activate, r *audit.Record,
	callers []Active, own Active,
) error {
	if err := s.checkRunner(l.Name, a.Agent); err != nil {
		return err
	}
	own.Fork = true
	if err := s.checkTasks(callers, own); err != nil {
		return err
	}
	if err := s.begin(ctx, a, l, o, r, callers); err != nil {
		return err
	}
	own.Inherited = true // no agent in the task can end the skill
	active := append(inherited(callers), own)
	if err := s.expandText(ctx, a, l, o, active); err != nil {
		return err
	}
	child, err := s.openTask(ctx, active)
	if err != nil {
		return err
	}
	a.TaskID, err = s.env.Submit(ctx, Fork{
		Skill: l.Name, Pack: l.Pack, Dir: l.Dir, Agent: a.Agent, Model: a.Model,
		Body: a.Body, Arguments: a.Arguments, Project: s.env.Project, Session: child.id,
	})
	if err != nil {
		_, endErr := child.End(context.WithoutCancel(ctx))
		return errors.Join(err, endErr)
	}
	return nil
}

// checkTasks returns why a skill must not run as a task in this session: the session is that of a task of the same
// skill, or of too many tasks within one another.
func (s *Session) checkTasks(callers []Active, own Active) error {
	var tasks []Active
	for _, b := range callers {
		if b.Inherited && b.Fork {
			tasks = append(tasks, b)
		}
	}
	names := State{Active: tasks}.Names()
	for i, b := range tasks {
		if sameSkill(own, b) {
			return &CycleError{Chain: append(names[i:], own.Name), Started: true}
		}
	}
	if len(tasks) >= s.env.MaxDepth || len(callers) >= maxActive {
		return &DepthError{Name: own.Name, Stack: names, Limit: s.env.MaxDepth}
	}
	return nil
}

// checkRunner returns why a skill cannot run as a task. It is checked before the pre hook runs.
func (s *Session) checkRunner(name, agent string) error {
	if s.env.Submit == nil {
		return &RunnerError{Skill: name}
	}
	if s.env.CheckRunner == nil {
		return nil
	}
	if err := s.env.CheckRunner(agent); err != nil {
		return &RunnerError{Skill: name, Err: err}
	}
	return nil
}

// openTask creates the session of a task with the skills that are active in it.
func (s *Session) openTask(ctx context.Context, active []Active) (*Session, error) {
	child := s.Other(taskPrefix + strings.ToLower(rand.Text()))
	return child, child.change(ctx, func(state *State) error {
		state.Active = slices.Clone(active)
		return nil
	})
}
