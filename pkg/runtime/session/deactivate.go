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

// notActive says that a skill, or with "" any skill, is not active, and what is.
func notActive(name string, active []string) error {
	err := diag.Errorf(diag.NotFound, "no skill is active")
	if name != "" {
		err = diag.Errorf(diag.NotFound, "skill \"%s\" is not active", name)
	}
	if near := diag.Nearest(name, active); near != "" {
		return err.WithHint("did you mean %s?", near)
	} else if len(active) == 0 {
		return err.WithHint("nothing is active in this session; skillpm session list shows the others")
	}
	return err.WithHint("skillpm session show lists what is active")
}

// Deactivate ends the skill of that name and all that are active above it, or the last one where name is "". It returns
// the names of what ended, the last one first. The scripts that run after skills run then; where one fails, the error
// is a [HookError], and the skills have ended all the same.
func (s *Session) Deactivate(ctx context.Context, name string) (ended []string, err error) {
	if s.id == "" {
		return nil, diag.Errorf(diag.Usage, "without a session nothing is active").
			WithHint("use --session ID, or set SKILLPM_SESSION")
	}
	removed, err := s.take(ctx, name)
	if diag.CodeOf(err) == diag.NotFound && name != "" {
		// A host may call a pack's skill pack:name, and a model that ends it by another way name.
		if k, other := s.lookup(ctx, name); other == nil && k.Name != name {
			if others, none := s.take(ctx, k.Name); none == nil {
				removed, err = others, nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return s.after(ctx, removed)
}

// take takes the skill of that name and all above it off the stack.
func (s *Session) take(ctx context.Context, name string) (removed []Active, err error) {
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

// after runs what is to run after skills that ended, and records their end.
func (s *Session) after(ctx context.Context, removed []Active) (ended []string, err error) {
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
				which: "post", script: a.Post, skill: k, dir: a.Real, arguments: a.Arguments,
				digest: a.Digest,
			})
		}
		failed = append(failed, err)
		unrecorded = append(unrecorded, s.record(audit.Record{
			Action: audit.Deactivate, Result: audit.OK, Digest: a.Digest, Reason: reason(err),
			DurationMS: max(0, s.env.Now().Sub(a.At).Milliseconds()),
		}, k)...)
		if len(unrecorded) > 0 {
			failed = append(failed, diag.Errorf(diag.Internal, "skill %q ended, but %s", a.Name, unrecorded[0]))
		}
	}
	return ended, errors.Join(failed...)
}

// skill returns what records say of a skill that is active, which the catalog may know no more.
func (a Active) skill() *catalog.Skill {
	return &catalog.Skill{Name: a.Name, Pack: a.Pack, Version: a.Version, Layer: a.Layer, Dir: a.Dir}
}

// End ends all skills of the session and forgets it, also where its state cannot be read.
func (s *Session) End(ctx context.Context) (ended []string, err error) {
	if s.id == "" {
		return nil, diag.Errorf(diag.Usage, "there is no session to end").WithHint("name one: skillpm session list")
	}
	removed, why, err := s.forget(ctx)
	if err != nil {
		return nil, err
	}
	ended, err = s.after(ctx, removed)
	if unrecorded := s.record(audit.Record{Action: audit.End, Result: audit.OK, Reason: why},
		nil); len(unrecorded) > 0 {
		err = errors.Join(err, diag.Errorf(diag.Internal, "session %q ended, but %s", s.id, unrecorded[0]))
	}
	return ended, err
}

// forget removes the state, and returns what was active, or why that is not known.
func (s *Session) forget(ctx context.Context) (removed []Active, why string, err error) {
	unlock, err := s.folder.lock(ctx)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	state, bad := s.folder.read(s.id)
	if err := os.Remove(s.folder.path(s.id)); errors.Is(err, fs.ErrNotExist) {
		return nil, "", diag.Errorf(diag.NotFound, "there is no session %q", s.id).
			WithHint("skillpm session list shows those there are")
	} else if err != nil {
		return nil, "", err
	}
	return state.Active, reason(bad), nil
}
