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

// Observed says what a host told of a skill that it is about to give to its model itself.
type Observed struct {
	Arguments string
	Trigger   Trigger // "" for Model
	Call      string  // the host's id of the call that asks for the skill, "" for none
	Turn      string  // the host's id of the prompt that is worked on, "" for none

	File bool // the name is the path of a SKILL.md that is read, in a host that activates skills so
	Done bool // the model has it already: nobody is asked whether it may, and no hook is run
	// where the catalog does not have the name, the host may mean a skill of a directory below the project, or above
	Deep bool

	several bool // the name may mean one of several skills
}

// UnknownTurn is the turn of a host that does not say which it is: what is entered for it, before the prompt is told
// of, survives one prompt.
const UnknownTurn = "?"

// Observation is what became of a skill that a host gives to its model.
type Observation struct {
	Skill   *catalog.Skill // nil for one that the catalog does not have: it is the host's own affair
	Entered bool           // it is active now, and was not before
	Notes   []string       // what people should know
}

// Observe enters a skill that the host activates itself: it is looked up, checked against who asks, the policies and
// what is active, its pre hook is run, and it is kept, as with [Session.Activate]. An error means that the host must
// not give it to the model. A skill that the catalog does not have is none of skillpm's, and enters nothing; neither
// does the one that was activated last, nor any that is active and is read once more, nor a call that was seen before.
// Where the host may mean one of several skills by the name, each of them is entered.
func (s *Session) Observe(ctx context.Context, name string, o Observed) (Observation, error) {
	o.Trigger = cmp.Or(o.Trigger, Model)
	found, err := s.candidates(ctx, name, o)
	if err != nil {
		r := audit.Record{
			Action: audit.Activate, Trigger: string(o.Trigger), Skill: name, Result: result(err),
			Reason: reason(err),
		}
		return Observation{}, s.recorded(err, r, forbidden(err))
	}
	o.several = len(found) > 1
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

// observeOne enters one skill, and records that.
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
		return seen, s.recorded(err, r, k)
	}
	seen.Notes = append(seen.Notes, s.record(r, k)...)
	return seen, nil
}

// linkCache answers where directories lead once links are followed. Those above them are asked about once.
type linkCache map[string]string

// resolve reports whether a directory leads to another one.
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
		target, _ = pathx.ResolveExisting(above) // "" leads nowhere
		l[above] = target
	}
	return target != "" && filepath.Join(target, filepath.Base(dir)) == real
}

// observe does the work, and notes in a record what it is done with.
func (s *Session) observe(ctx context.Context, seen *Observation, o Observed, r *audit.Record) error {
	if err := s.mayObserve(seen.Skill, o); err != nil {
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
	if again(state, active, o) {
		return nil
	}
	if o.Done {
		active.Post = ""
		return s.enter(ctx, seen, active, o)
	}
	if err := s.push(state, active); err != nil {
		return err
	}
	if seen.Notes, err = s.decide(ctx, loaded, r); err != nil {
		return err
	}
	if err := s.begun(r, seen.Skill); err != nil {
		return err
	}
	a := &Activation{Skill: seen.Skill, Arguments: o.Arguments}
	if err := s.before(ctx, loaded, a); err != nil {
		return err
	}
	seen.Notes = append(seen.Notes, a.Warnings...)
	return s.enter(ctx, seen, active, o)
}

// mayObserve reports why a skill must not be given to the model by who asks, or from where this process was started.
// What the model has already is not asked about: it restricts, whoever wanted it.
func (s *Session) mayObserve(k *catalog.Skill, o Observed) error {
	if o.Done {
		return nil
	}
	if err := allowed(k, o.Trigger); err != nil {
		return err
	}
	return s.nested(k.Exact(), true)
}

// enter makes a skill active, unless another process did so meanwhile.
func (s *Session) enter(ctx context.Context, seen *Observation, active Active, o Observed) error {
	if s.id == "" {
		return nil
	}
	return s.folder.change(ctx, s.id, func(state *State) error {
		if again(*state, active, o) {
			return nil
		}
		if err := s.push(*state, active); err != nil && (!o.Done || len(state.Active) >= maxActive) {
			return err
		}
		state.Active = append(state.Active, active)
		seen.Entered = true
		return nil
	})
}

// again reports whether a skill is active in a way that nothing needs to be done about: by the same call, as the last
// one, or where its file is only read once more, or where it is only told of what the model has.
func again(state State, active Active, o Observed) bool {
	for i, a := range state.Active {
		if same(active, a) && (o.File || o.Done || o.several || i == len(state.Active)-1 || o.Call != "" &&
			a.Call == o.Call) {
			return true
		}
	}
	return false
}

// Retract ends the skill that a call activated, where the host says that the call failed or that the skill is done. It
// returns its name, "" where the call activated none.
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

// FinishCall notes that the host has given the skill of a call to its model, where calls that are the same share their id:
// another one that fails later takes nothing back.
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

// EndTurn ends the skills that were activated for a prompt which is done, the last one first: all of them, or but those
// of the turn that begins. What came from a parent stays. It returns their names.
func (s *Session) EndTurn(ctx context.Context, begins string) (ended []string, err error) {
	if begins == UnknownTurn {
		defer func() { err = errors.Join(err, s.forgetTurn(ctx)) }()
	}
	return s.endMatching(ctx, func(a Active) bool { return !a.Inherited && (begins == "" || a.Turn != begins) })
}

// forgetTurn has what was entered for a turn without an id end with the next one.
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

// endMatching ends some of the skills, and runs what is to run after them.
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
	return s.after(ctx, removed)
}

// Inherit begins a session of a subagent with what is active in its parent's. A session that is kept already stays as
// it is.
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

// Exists reports whether there is a session of an id below a state directory, and nothing about what is in it.
func Exists(state, id string) bool {
	if id == "" || state == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(Dir(state), fileName(id)))
	return !errors.Is(err, fs.ErrNotExist)
}

// RunAllowed returns why a script of a skill, or with "" its command, must not be run now: what other skills that are
// active do not let the shell tool run. A skill that the catalog does not have is not asked about.
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
	return s.mayRun(k, RunOptions{Script: script, Trigger: Model}, argv)
}
