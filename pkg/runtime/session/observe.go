package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/tokens"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// Observed describes a skill that an agent itself is about to give to its model.
type Observed struct {
	Arguments string
	Trigger   Trigger // "" for Model
	// Call is the agent's id of the call that asks for the skill, "" for none. The user may still refuse the call: the pre
	// hook runs, and the skills before this one end, only when [Session.Confirm] reports its success.
	Call string
	Turn string // the agent's id of the current prompt, "" for none

	File bool // the name is the path of a SKILL.md that the agent reads to activate the skill
	// Served means that skillpm's server gives the skill to the model: the name means what it means to skillpm, and the
	// server checks the permissions and runs the hooks.
	Served        bool
	AlreadyLoaded bool // the model already has the skill: permissions are not checked, and no hook runs
	// Deep also searches directories below and above the project if the catalog does not have the name.
	Deep bool
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

// Observe records that an agent activates a skill itself. It checks the skill and stores it as active, as
// [Session.Activate] does. After an error the agent must not give the skill to its model.
//
// Observe enters nothing if the catalog does not have the skill, or if the skill is active already. The error is an
// [AmbiguousError] if the agent may mean several skills.
func (s *Session) Observe(ctx context.Context, name string, o Observed) (Observation, error) {
	o.Trigger = cmp.Or(o.Trigger, Model)
	k, err := s.candidate(ctx, name, o)
	if err != nil {
		r := audit.Record{
			Action: audit.Activate, Trigger: string(o.Trigger), Skill: name, Result: result(err),
			Reason: reason(err),
		}
		return Observation{}, s.recordFailure(err, r, forbidden(err))
	}
	if k == nil || o.Served && k.Fork { // a task has its own session
		return Observation{}, nil
	}
	started := s.env.Now()
	seen := Observation{Skill: k}
	r := audit.Record{Action: audit.Activate, Trigger: string(o.Trigger)}
	err = s.observe(ctx, &seen, o, &r)
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

// observe does the work of Observe and completes the audit record.
func (s *Session) observe(ctx context.Context, seen *Observation, o Observed, r *audit.Record) error {
	if err := s.checkObserved(seen.Skill, o); err != nil {
		return err
	}
	loaded, err := seen.Skill.Load()
	if err != nil {
		return err
	}
	r.Digest = loaded.Digest
	if !o.AlreadyLoaded && !o.Served {
		r.Tokens = int64(tokens.Estimate(loaded.Body))
	}
	active, err := s.newActive(loaded, Activate{Arguments: o.Arguments, Trigger: o.Trigger})
	if err != nil {
		return err
	}
	active.Call, active.Turn, active.Fork, active.Agent = o.Call, o.Turn, seen.Skill.Fork, loaded.Front.Agent
	state, err := s.State()
	if err != nil {
		return err
	}
	around, err := s.arrangeObserved(state, active, seen.Skill, o)
	if err != nil || around.repeated != nil {
		if err == nil && around.repeated.Pending {
			return s.repeatPending(ctx, around.repeated.Real, o)
		}
		return err
	}
	if o.AlreadyLoaded || o.Served {
		active.Post, active.Pending = "", o.Served && !o.AlreadyLoaded
		return s.enter(ctx, seen, active, o)
	}
	if seen.Notes, err = s.decide(ctx, loaded, r); err != nil {
		return err
	}
	if err := s.recordIntent(r, seen.Skill); err != nil {
		return err
	}
	if active.Pending = o.Call != ""; active.Pending {
		active.Pre = loaded.Front.Pre
	} else {
		warnings, err := s.runPreHook(ctx, loaded, o.Arguments, around.kept)
		seen.Notes = append(seen.Notes, warnings...)
		if err != nil {
			return err
		}
	}
	return s.enter(ctx, seen, active, o)
}

// repeatPending notes another call for a skill whose first call has no result yet. The newer call decides, and if the
// model has the skill already, the skill is confirmed.
func (s *Session) repeatPending(ctx context.Context, real string, o Observed) error {
	if o.Call == "" {
		return nil
	}
	err := s.change(ctx, func(state *State) error {
		if i := state.indexOf(real); i >= 0 && state.Active[i].Pending {
			state.Active[i].Call = o.Call
		}
		return nil
	})
	if err == nil && o.AlreadyLoaded {
		_, err = s.Confirm(ctx, o.Call)
	}
	return err
}

// checkObserved returns why the model must not get a skill: the frontmatter forbids the trigger, or the skill is nested
// too deep. A skill that the model already has is not checked, so that its restrictions apply in any case.
func (s *Session) checkObserved(k *catalog.Skill, o Observed) error {
	if o.AlreadyLoaded || o.Served {
		return nil
	}
	if err := checkTrigger(k, o.Trigger); err != nil {
		return err
	}
	return s.checkNesting(k.Exact(), true)
}

// arrangeObserved is arrange for a skill that the agent loads itself. The same call, another reading of the file, and a
// skill that the model already has are never a cycle.
func (s *Session) arrangeObserved(state State, active Active, k *catalog.Skill, o Observed) (arrangement, error) {
	around, err := s.arrange(state, active, k, "")
	again := around.repeated != nil && (o.File || o.AlreadyLoaded || o.Served || o.Call != "" && around.repeated.Call == o.Call)
	if _, deep := errors.AsType[*DepthError](err); again || deep && (o.AlreadyLoaded || o.Served) {
		err = nil
	}
	return around, err
}

// enter stores a skill as active, unless another process has done so meanwhile. The skills before it end, unless the
// user may still refuse the call.
func (s *Session) enter(ctx context.Context, seen *Observation, active Active, o Observed) error {
	if s.id == "" {
		return nil
	}
	var around arrangement
	err := s.change(ctx, func(state *State) (err error) {
		if around, err = s.arrangeObserved(*state, active, seen.Skill, o); err != nil || around.repeated != nil {
			return err
		}
		active.Parent = around.parent
		if active.Pending {
			around.kept, around.ended = state.Active, nil
		}
		state.Active = append(slices.Clone(around.kept), active)
		seen.Entered = true
		return nil
	})
	if err != nil || !seen.Entered {
		return err
	}
	if _, err := s.runPostHooks(ctx, around.ended, around.kept); err != nil {
		seen.Notes = append(seen.Notes, err.Error())
	}
	return nil
}

// Confirm notes that a call has given its skill to the model: the user has agreed. The pre hook runs now if it has not
// run yet, and then the skills before this one end. If the hook fails, the model already has the instructions: the skill
// stays active, and no tool is allowed until the skill ends. The terms are those of [Activation.Terms].
func (s *Session) Confirm(ctx context.Context, call string) (terms string, err error) {
	return s.confirm(ctx, func(a Active) bool { return call != "" && a.Call == call })
}

// ConfirmForks is Confirm for the skills that a subagent of a kind runs, when the subagent starts.
func (s *Session) ConfirmForks(ctx context.Context, agent string) error {
	_, err := s.confirm(ctx, func(a Active) bool { return a.Fork && cmp.Or(a.Agent, defaultAgent) == cmp.Or(agent, defaultAgent) })
	return err
}

// defaultAgent is the kind of subagent that runs a fork that names none.
const defaultAgent = "general-purpose"

func (s *Session) confirm(ctx context.Context, those func(Active) bool) (said string, err error) {
	pending := func(a Active) bool { return a.Pending && those(a) }
	state, err := s.State()
	if err != nil || !slices.ContainsFunc(state.Active, pending) {
		return "", err
	}
	var failed []error
	var last Active
	for _, a := range state.Active {
		if pending(a) {
			last = a
			failed = append(failed, s.complete(ctx, a))
		}
	}
	err = errors.Join(failed...)
	if state, stateErr := s.State(); err == nil && stateErr == nil {
		said = terms(last.Name, s.toolSet(state.Active), "it ends with this turn")
	}
	return said, err
}

// complete runs the pre hook of a confirmed skill and ends the skills before it. Skills that were activated after it, in
// the same message, are not affected.
func (s *Session) complete(ctx context.Context, a Active) error {
	k := a.skill()
	claimed := false
	err := s.change(ctx, func(state *State) error {
		claimed = false
		if i := state.indexOf(a.Real); i >= 0 && state.Active[i].Pending {
			claimed = true
			state.Active[i].Pending = false
			if a.Pre != "" {
				state.Active[i].Failed = "its pre hook has not ended"
			}
		}
		return nil
	})
	if err != nil || !claimed {
		return err
	}
	var hookErr error
	if a.Pre != "" {
		hookErr = s.runPendingHook(ctx, a, k)
	}
	// A hook that exceeds the limit of ctx has failed, which must be stored.
	var around arrangement
	err = s.change(context.WithoutCancel(ctx), func(state *State) error {
		around = arrangement{}
		i := state.indexOf(a.Real)
		if i < 0 {
			return nil
		}
		entry, after := state.Active[i], slices.Clone(state.Active[i+1:])
		entry.Pre, entry.Failed = "", ""
		if hookErr != nil {
			entry.Failed = hookErr.Error()
			state.Active[i] = entry
			return nil
		}
		state.Active[i] = entry
		var err error
		if around, err = s.arrange(State{Active: state.Active[:i]}, entry, k, ""); err == nil && around.repeated == nil {
			entry.Parent = around.parent
			state.Active = append(append(slices.Clone(around.kept), entry), after...)
		}
		return nil
	})
	if err == nil {
		_, err = s.runPostHooks(ctx, around.ended, around.kept)
	}
	return errors.Join(hookErr, err)
}

// runPendingHook runs the pre hook of a confirmed skill, under the restrictions of the skills that stay active.
func (s *Session) runPendingHook(ctx context.Context, a Active, k *catalog.Skill) error {
	state, err := s.State()
	if err != nil {
		return err
	}
	var before []Active
	if i := state.indexOf(a.Real); i >= 0 {
		before = state.Active[:i]
	}
	if around, err := s.arrange(State{Active: before}, a, k, ""); err == nil {
		before = around.kept
	}
	_, err = s.hook(ctx, hook{
		kind: "pre", script: a.Pre, skill: k, dir: a.Real, arguments: a.Arguments, digest: a.Digest, others: before,
		loaded: nil, after: true,
	})
	return err
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

// ForgetCall makes a later call with the same id another one. It is for agents whose identical calls share an id: a
// later one that fails then ends nothing.
func (s *Session) ForgetCall(ctx context.Context, call string) error {
	mine := func(a Active) bool { return a.Call == call }
	state, err := s.State()
	if err != nil || call == "" || !slices.ContainsFunc(state.Active, mine) {
		return err
	}
	return s.change(ctx, func(state *State) error {
		for i := range state.Active {
			if mine(state.Active[i]) {
				state.Active[i].Call = ""
			}
		}
		return nil
	})
}

// RetractPending ends the skills of calls that the agent has not carried out, because the user refused them.
func (s *Session) RetractPending(ctx context.Context, calls []string) error {
	_, err := s.endMatching(ctx, func(a Active) bool { return a.Pending && slices.Contains(calls, a.Call) })
	return err
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
	return s.change(ctx, func(state *State) error {
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
	var removed, kept []Active
	err = s.change(ctx, func(state *State) error {
		removed, kept = nil, nil
		for _, a := range state.Active {
			if those(a) {
				removed = append(removed, a)
			} else {
				kept = append(kept, a)
			}
		}
		state.Active = kept
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.runPostHooks(ctx, removed, kept)
}

// Inherit stores the skills with which a session begins, so that they stay active when they end in the parent session. It
// does not change a session that already has state.
func (s *Session) Inherit(ctx context.Context) error {
	if state, err := s.State(); err != nil || s.id == "" || state.Known() || len(state.Active) == 0 {
		return err
	}
	return s.change(ctx, func(*State) error { return nil })
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
	k, err := s.candidate(ctx, name, Observed{Served: true})
	if k == nil || err != nil {
		return err
	}
	argv := []string{name}
	if script != "" {
		argv = scriptLine(k.Dir, script, nil)
	}
	return s.checkRun(k, RunOptions{Script: script, Trigger: Model}, argv)
}
