package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// Observed describes a skill that an agent itself is about to give to its model.
type Observed struct {
	Arguments string
	Trigger   Trigger // "" for Model
	Call      string  // the agent's id of the call that asks for the skill, "" for none
	Turn      string  // the agent's id of the current prompt, "" for none

	File          bool // the name is the path of a SKILL.md that the agent reads to activate the skill
	AlreadyLoaded bool // the model already has the skill: permissions are not checked, and no hook runs
	// Deep also searches directories below and above the project if the catalog does not have the name.
	Deep bool

	ambiguous bool // the name may mean several skills
}

// UnknownTurn is the turn of an agent that does not identify its prompts. A skill entered for it before the agent
// reports the prompt stays active for that one prompt.
const UnknownTurn = "?"

// Observation is the outcome of observing a skill.
type Observation struct {
	Skill   *catalog.Skill // nil if the catalog does not have it; such a skill is the agent's own
	Entered bool           // it was not active before and is now
	Notes   []string       // what the user should know
}

// Observe records that an agent activates a skill itself. It checks the skill, runs its pre hook, and stores it as
// active, as [Session.Activate] does. After an error the agent must not give the skill to its model.
//
// Observe enters nothing if the catalog does not have the skill, if the skill was activated last, if an active skill is
// only read again, or if the call was seen before. If the name may mean several skills, it enters each of them.
func (s *Session) Observe(ctx context.Context, name string, o Observed) (Observation, error) {
	o.Trigger = cmp.Or(o.Trigger, Model)
	found, err := s.candidates(ctx, name, o)
	if err != nil {
		r := audit.Record{
			Action: audit.Activate, Trigger: string(o.Trigger), Skill: name, Result: result(err),
			Reason: reason(err),
		}
		return Observation{}, s.recordFailure(err, r, forbidden(err))
	}
	o.ambiguous = len(found) > 1
	var all Observation
	for i, k := range found {
		seen, err := s.observeOne(ctx, k, o)
		if i == 0 {
			all.Skill = k
		}
		all.Entered = all.Entered || seen.Entered
		all.Notes = append(all.Notes, seen.Notes...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// observeOne enters one skill and records that.
func (s *Session) observeOne(ctx context.Context, k *catalog.Skill, o Observed) (Observation, error) {
	started := s.env.Now()
	seen := Observation{Skill: k}
	r := audit.Record{Action: audit.Activate, Trigger: string(o.Trigger)}
	err := s.observe(ctx, &seen, o, &r)
	if err == nil && !seen.Entered {
		return seen, nil
	}
	r.Result, r.Reason, r.DurationMS = result(err), reason(err), s.env.Now().Sub(started).Milliseconds()
	if err != nil {
		return seen, s.recordFailure(err, r, k)
	}
	seen.Notes = append(seen.Notes, s.record(r, k)...)
	return seen, nil
}

// linkCache caches the resolved parents of directories.
type linkCache map[string]string

// resolve reports whether dir resolves to real.
func (l linkCache) resolve(dir, real string) bool {
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		target, err := pathx.ResolveExisting(dir)
		return err == nil && target == real
	}
	if filepath.Base(dir) != filepath.Base(real) {
		return false
	}
	above := filepath.Dir(dir)
	target, ok := l[above]
	if !ok {
		target, _ = pathx.ResolveExisting(above) // "" if it does not resolve
		l[above] = target
	}
	return target != "" && filepath.Join(target, filepath.Base(dir)) == real
}

// observe does the work of observeOne and completes the audit record.
func (s *Session) observe(ctx context.Context, seen *Observation, o Observed, r *audit.Record) error {
	if err := s.checkObserved(seen.Skill, o); err != nil {
		return err
	}
	loaded, err := seen.Skill.Load()
	if err != nil {
		return err
	}
	r.Digest = loaded.Digest
	active, err := s.newActive(loaded, Activate{Arguments: o.Arguments, Trigger: o.Trigger})
	if err != nil {
		return err
	}
	active.Call, active.Turn = o.Call, o.Turn
	state, err := s.State()
	if err != nil {
		return err
	}
	if isRepeated(state, active, o) {
		return nil
	}
	if o.AlreadyLoaded {
		active.Post = ""
		return s.enter(ctx, seen, active, o)
	}
	if err := s.checkPush(state, active); err != nil {
		return err
	}
	if seen.Notes, err = s.decide(ctx, loaded, r); err != nil {
		return err
	}
	if err := s.recordIntent(r, seen.Skill); err != nil {
		return err
	}
	a := &Activation{Skill: seen.Skill, Arguments: o.Arguments}
	if err := s.runPreHook(ctx, loaded, a); err != nil {
		return err
	}
	seen.Notes = append(seen.Notes, a.Warnings...)
	return s.enter(ctx, seen, active, o)
}

// checkObserved returns why the model must not get a skill: the frontmatter forbids the trigger, or the skill is nested
// too deep. A skill that the model already has is not checked, so that its restrictions apply in any case.
func (s *Session) checkObserved(k *catalog.Skill, o Observed) error {
	if o.AlreadyLoaded {
		return nil
	}
	if err := checkTrigger(k, o.Trigger); err != nil {
		return err
	}
	return s.checkNesting(k.Exact(), true)
}

// enter stores a skill as active, unless another process has done so meanwhile.
func (s *Session) enter(ctx context.Context, seen *Observation, active Active, o Observed) error {
	if s.id == "" {
		return nil
	}
	return s.folder.change(ctx, s.id, func(state *State) error {
		if isRepeated(*state, active, o) {
			return nil
		}
		if err := s.checkPush(*state, active); err != nil && (!o.AlreadyLoaded || len(state.Active) >= maxActive) {
			return err
		}
		state.Active = append(state.Active, active)
		seen.Entered = true
		return nil
	})
}

// isRepeated reports whether a skill is already active and the observation changes nothing: it is the same call, the
// last skill, another reading of its file, or a report about a skill that the model already has.
func isRepeated(state State, active Active, o Observed) bool {
	for i, a := range state.Active {
		if sameSkill(active, a) && (o.File || o.AlreadyLoaded || o.ambiguous || i == len(state.Active)-1 ||
			o.Call != "" && a.Call == o.Call) {
			return true
		}
	}
	return false
}

// Retract ends the skill that a call activated, for calls that failed and skills that are done. It returns the skill's
// name, "" if the call activated none.
func (s *Session) Retract(ctx context.Context, call string) (name string, err error) {
	if call == "" || s.id == "" {
		return "", nil
	}
	ended, err := s.endMatching(ctx, func(a Active) bool { return a.Call == call })
	if len(ended) == 0 {
		return "", err
	}
	return ended[0], err
}

// FinishCall notes that the agent has given the skill of a call to its model. It is for agents whose identical calls
// share an id: a later one that fails then ends nothing.
func (s *Session) FinishCall(ctx context.Context, call string) error {
	mine := func(a Active) bool { return a.Call == call }
	state, err := s.State()
	if err != nil || call == "" || !slices.ContainsFunc(state.Active, mine) {
		return err
	}
	return s.folder.change(ctx, s.id, func(state *State) error {
		for i := range state.Active {
			if mine(state.Active[i]) {
				state.Active[i].Call = ""
			}
		}
		return nil
	})
}

// EndTurn ends the skills that were activated for earlier prompts, the last one first. It keeps those of the turn that
// begins, and those that a parent session had. It returns the names of the ended skills.
func (s *Session) EndTurn(ctx context.Context, begins string) (ended []string, err error) {
	if begins == UnknownTurn {
		defer func() { err = errors.Join(err, s.forgetTurn(ctx)) }()
	}
	return s.endMatching(ctx, func(a Active) bool { return !a.Inherited && (begins == "" || a.Turn != begins) })
}

// forgetTurn clears unknown turns, so that the next turn ends their skills.
func (s *Session) forgetTurn(ctx context.Context) error {
	unknown := func(a Active) bool { return a.Turn == UnknownTurn }
	if state, err := s.State(); err != nil || !slices.ContainsFunc(state.Active, unknown) {
		return err
	}
	return s.folder.change(ctx, s.id, func(state *State) error {
		for i := range state.Active {
			if unknown(state.Active[i]) {
				state.Active[i].Turn = ""
			}
		}
		return nil
	})
}

// endMatching ends the skills that match and runs their post hooks.
func (s *Session) endMatching(ctx context.Context, those func(Active) bool) (ended []string, err error) {
	state, err := s.State()
	if err != nil || !slices.ContainsFunc(state.Active, those) {
		return nil, err
	}
	var removed []Active
	err = s.folder.change(ctx, s.id, func(state *State) error {
		removed = nil
		state.Active = slices.DeleteFunc(state.Active, func(a Active) bool {
			if those(a) {
				removed = append(removed, a)
				return true
			}
			return false
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.runPostHooks(ctx, removed)
}

// Inherit begins the session of a subagent with the skills that are active in its parent. It does not change a session
// that already has state.
func (s *Session) Inherit(ctx context.Context, parent string) error {
	if s.id == "" || parent == "" {
		return nil
	}
	parentState, err := s.folder.read(parent)
	if err != nil {
		return err
	}
	return s.folder.change(ctx, s.id, func(state *State) error {
		if state.Known() {
			return nil
		}
		for _, a := range parentState.Active {
			a.Inherited, a.Call, a.Turn, a.Post = true, "", "", ""
			state.Active = append(state.Active, a)
		}
		return nil
	})
}

// Exists reports whether the state directory has a state file for the session.
func Exists(state, id string) bool {
	if id == "" || state == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(Dir(state), fileName(id)))
	return !errors.Is(err, fs.ErrNotExist)
}

// RunAllowed returns why a script of a skill, or with "" its command, must not run now: the tool restrictions of other
// active skills forbid it. It returns nil for a skill that the catalog does not have.
func (s *Session) RunAllowed(ctx context.Context, name, script string) error {
	found, err := s.candidates(ctx, name, Observed{})
	if len(found) == 0 || err != nil {
		return err
	}
	k := found[0]
	argv := []string{name}
	if script != "" {
		argv = []string{filepath.Join(k.Dir, filepath.FromSlash(script))}
	}
	return s.checkRun(k, RunOptions{Script: script, Trigger: Model}, argv)
}
