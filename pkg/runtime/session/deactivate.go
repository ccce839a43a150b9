package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// notActive returns the error that a skill is not active; with name "", that none is.
func notActive(name string, active []string) error {
	err := diag.Errorf(diag.NotFound, "no skill is active")
	if name != "" {
		err = diag.Errorf(diag.NotFound, "skill \"%s\" is not active", name)
	}
	if near := diag.Nearest(name, active); near != "" {
		return err.WithHint("did you mean %s?", near)
	} else if len(active) == 0 {
		return err.WithHint("list sessions with: skillpm session list")
	}
	return err.WithHint("list active skills with: skillpm session show")
}

// Deactivate ends the skill with this name and the skills that are nested in it; with name "", the last one. It returns
// the names of the ended skills, the last one first, and runs their post hooks. If a hook fails, the error is a
// [HookError], and the skills have ended nevertheless. The error has code Denied for skills that a parent session has,
// and for the model also for those that the user started.
func (s *Session) Deactivate(ctx context.Context, name string, by Trigger) (ended []string, err error) {
	if s.id == "" {
		return nil, diag.Errorf(diag.Usage, "cannot deactivate a skill without a session").
			WithHint("use --session ID, or set SKILLPM_SESSION")
	}
	removed, kept, err := s.pop(ctx, s.activeName(ctx, name), by)
	if err != nil {
		return nil, err
	}
	return s.runPostHooks(ctx, removed, kept)
}

// activeName returns the name of the active skill that a name means. An agent may start a pack's skill as pack:name, and
// end it as name.
func (s *Session) activeName(ctx context.Context, name string) string {
	state, err := s.State()
	if err != nil || name == "" || state.find(name) >= 0 {
		return name
	}
	if k, err := s.lookup(ctx, name); err == nil {
		for _, a := range state.Active {
			if a.is(k) {
				return a.Exact()
			}
		}
	}
	return name
}

// CheckEnd returns why the model cannot end a skill, nil if it can or if the skill is not active.
func (s *Session) CheckEnd(ctx context.Context, name string) error {
	state, err := s.State()
	if err != nil {
		return err
	}
	if _, _, err := state.pop(s.activeName(ctx, name), Model); diag.CodeOf(err) == diag.Denied {
		return err
	}
	return nil
}

// pop removes the skill with this name and those that are nested in it.
func (s *Session) pop(ctx context.Context, name string, by Trigger) (removed, kept []Active, err error) {
	err = s.change(ctx, func(state *State) (err error) {
		if removed, kept, err = state.pop(name, by); err == nil {
			state.Active = kept
		}
		return err
	})
	return removed, kept, err
}

// pop returns the skill with this name and those that are nested in it, and the others. With name "" and the model, it
// takes the last skill that the model started.
func (s State) pop(name string, by Trigger) (removed, kept []Active, err error) {
	own := func(a Active) bool { return !a.Inherited && (by != Model || a.Trigger == Model) }
	i := s.find(name)
	if name == "" && by == Model {
		i = lastIndex(s.Active, own)
	}
	if i < 0 {
		return nil, nil, notActive(name, s.Names())
	}
	removed = s.within(s.Active[i])
	if j := slices.IndexFunc(removed, func(a Active) bool { return !own(a) }); j >= 0 {
		if removed[j].Inherited {
			return nil, nil, diag.Errorf(diag.Denied, "cannot end skill %s here: the skill ends with this task or subagent",
				removed[j].Exact())
		}
		return nil, nil, diag.Errorf(diag.Denied, "the model cannot end skill %s: the user started the skill",
			removed[j].Exact()).
			WithHint("ask the user to end the skill")
	}
	return removed, without(s.Active, removed), nil
}

// lastIndex returns the index of the last matching skill, -1 if none matches.
func lastIndex(active []Active, is func(Active) bool) int {
	for i, a := range slices.Backward(active) {
		if is(a) {
			return i
		}
	}
	return -1
}

// without returns the active skills that are not among the removed ones.
func without(active, removed []Active) []Active {
	return slices.DeleteFunc(slices.Clone(active), func(a Active) bool {
		return slices.ContainsFunc(removed, func(b Active) bool { return a.Real == b.Real })
	})
}

// runPostHooks runs the post hooks of ended skills, the last one first, under the restrictions of the skills that stay
// active, and records the ends.
func (s *Session) runPostHooks(ctx context.Context, removed, kept []Active) (ended []string, err error) {
	var failed []error
	for _, a := range slices.Backward(removed) {
		ended = append(ended, a.Name)
		k := a.skill()
		var err error
		var unrecorded []string
		if a.Post != "" && !a.Pending && a.Failed == "" {
			unrecorded, err = s.hook(ctx, hook{
				kind: "post", script: a.Post, skill: k, dir: a.Real, arguments: a.Arguments, digest: a.Digest, others: kept,
			})
		}
		failed = append(failed, err)
		unrecorded = append(unrecorded, s.record(audit.Record{
			Action: audit.Deactivate, Result: audit.OK, Digest: a.Digest, Reason: reason(err),
			DurationMS: max(0, s.env.Now().Sub(a.At).Milliseconds()),
		}, k)...)
		if len(unrecorded) > 0 {
			failed = append(failed, diag.Errorf(diag.Internal, "skillpm deactivated skill %q, but %s", a.Name, unrecorded[0]))
		}
	}
	return ended, errors.Join(failed...)
}

// skill returns what audit records need of an active skill. The catalog may no longer have it.
func (a Active) skill() *catalog.Skill {
	return &catalog.Skill{Name: a.Name, Pack: a.Pack, Version: a.Version, Layer: a.Layer, Dir: a.Dir}
}

// End ends all skills of the session and deletes its state, even if that cannot be read.
func (s *Session) End(ctx context.Context) (ended []string, err error) {
	if s.id == "" {
		return nil, diag.Errorf(diag.Usage, "cannot end a session without its id").
			WithHint("use --session ID; list sessions with: skillpm session list")
	}
	if IsTask(s.id) && s.env.Getenv("SKILLPM_SESSION") == s.id {
		return nil, diag.Errorf(diag.Denied, "cannot end the session of a task within the task")
	}
	removed, why, err := s.forget(ctx)
	if err != nil {
		return nil, err
	}
	own, others := removed[:0:0], removed[:0:0]
	for _, a := range removed {
		if a.Inherited && a.Post == "" { // it is active in the parent session
			others = append(others, a)
		} else {
			own = append(own, a)
		}
	}
	ended, err = s.runPostHooks(ctx, own, others)
	if unrecorded := s.record(audit.Record{Action: audit.End, Result: audit.OK, Reason: why},
		nil); len(unrecorded) > 0 {
		err = errors.Join(err, diag.Errorf(diag.Internal, "session %q ended, but %s", s.id, unrecorded[0]))
	}
	return ended, err
}

// forget deletes the state. It returns the skills that were active, or why they are unknown.
func (s *Session) forget(ctx context.Context) (removed []Active, why string, err error) {
	unlock, err := s.folder.lock(ctx)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	state, bad := s.folder.read(s.id)
	if err := os.Remove(s.folder.path(s.id)); errors.Is(err, fs.ErrNotExist) {
		return nil, "", diag.Errorf(diag.NotFound, "session %q does not exist", s.id).
			WithHint("list sessions with: skillpm session list")
	} else if err != nil {
		return nil, "", err
	}
	return state.Active, reason(bad), nil
}
