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

// Deactivate ends the skill with this name and all skills above it in the stack; with name "", the last one. It returns
// the names of the ended skills, the last one first, and runs their post hooks. If a hook fails, the error is a
// [HookError], and the skills have ended nevertheless.
func (s *Session) Deactivate(ctx context.Context, name string) (ended []string, err error) {
	if s.id == "" {
		return nil, diag.Errorf(diag.Usage, "cannot deactivate a skill without a session").
			WithHint("use --session ID, or set SKILLPM_SESSION")
	}
	removed, err := s.pop(ctx, name)
	if diag.CodeOf(err) == diag.NotFound && name != "" {
		// An agent may start a pack's skill as pack:name, and end it as name.
		if k, other := s.lookup(ctx, name); other == nil && k.Name != name {
			if others, none := s.pop(ctx, k.Name); none == nil {
				removed, err = others, nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return s.runPostHooks(ctx, removed)
}

// pop removes the skill with this name and all above it from the stack.
func (s *Session) pop(ctx context.Context, name string) (removed []Active, err error) {
	err = s.folder.change(ctx, s.id, func(state *State) error {
		i := state.find(name)
		if i < 0 {
			return notActive(name, state.Names())
		}
		removed = slices.Clone(state.Active[i:])
		state.Active = state.Active[:i]
		return nil
	})
	return removed, err
}

// runPostHooks runs the post hooks of ended skills and records the ends.
func (s *Session) runPostHooks(ctx context.Context, removed []Active) (ended []string, err error) {
	var failed []error
	slices.Reverse(removed)
	for _, a := range removed {
		ended = append(ended, a.Name)
		k := a.skill()
		var err error
		var unrecorded []string
		if a.Post != "" {
			unrecorded,
				err = s.hook(ctx, hook{
				kind: "post", script: a.Post, skill: k, dir: a.Real, arguments: a.Arguments,
				digest: a.Digest,
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
	removed, why, err := s.forget(ctx)
	if err != nil {
		return nil, err
	}
	ended, err = s.runPostHooks(ctx, removed)
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
