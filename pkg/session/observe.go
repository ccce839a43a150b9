package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/audit"
	"github.com/skillpm/skillpm/pkg/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Observed says what a host told of a skill that it is about to give to its model itself.
type Observed struct {
	Arguments string
	Trigger   Trigger // "" for Model
	Call      string  // the host's id of the call that asks for the skill, "" for none
	Turn      string  // the host's id of the prompt that is worked on, "" for none

	File bool // the name is the path of a SKILL.md that is read, in a host that activates skills so
	Done bool // skillpm activated it, in a session of its own: nobody is asked, and no hook is run once more
}

// Untold is the turn of a host that does not say which it is: what is entered for it, before the prompt is told of, survives
// one prompt.
const Untold = "?"

// Observation is what became of a skill that a host gives to its model.
type Observation struct {
	Skill   *catalog.Skill // nil for one that the catalog does not have: it is the host's own affair
	Entered bool           // it is active now, and was not before
	Notes   []string       // what people should know
}

// Observe enters a skill that the host activates itself: it is looked up, checked against who asks, the policies and what is
// active, its pre hook is run, and it is kept, as with [Session.Activate]. An error means that the host must not give it to
// the model. A skill that the catalog does not have is none of skillpm's, and enters nothing; neither does the one that was
// activated last, nor any that is active and is read once more, nor a call that was seen before.
func (s *Session) Observe(ctx context.Context, name string, o Observed) (Observation, error) {
	o.Trigger = cmp.Or(o.Trigger, Model)
	started := s.env.Now()
	k, err := s.observed(ctx, name, o)
	if k == nil && err == nil {
		return Observation{}, nil
	}
	seen := Observation{Skill: k}
	r := audit.Record{Action: audit.Activate, Trigger: string(o.Trigger)}
	if err == nil {
		err = s.observe(ctx, &seen, o, &r)
	} else {
		r.Skill = name
	}
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

// observed finds the skill that a host means, nil for one that the catalog does not have.
func (s *Session) observed(ctx context.Context, name string, o Observed) (*catalog.Skill, error) {
	if o.File {
		return s.at(ctx, name)
	}
	k, err := s.lookup(ctx, name)
	unknown, ok := errors.AsType[*catalog.UnknownError](err)
	if ok && !unknown.Denied && !unknown.Invalid {
		return nil, nil
	}
	return k, err
}

// at returns the skill whose SKILL.md a path is, also of one that another shadows: the host decides which it reads.
func (s *Session) at(ctx context.Context, path string) (*catalog.Skill, error) {
	if filepath.Base(path) != skill.File {
		return nil, nil
	}
	dir := filepath.Dir(path)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, nil // what is not there is not read
	}
	c, err := s.env.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	known := leads{}
	for _, e := range c.All() {
		if e.Skill == nil || e.Dir != dir && e.Dir != real && !known.to(e.Dir, real) {
			continue
		}
		if e.State == catalog.InForce || e.State == catalog.Shadowed {
			return e.Skill, nil
		}
		if _, err := c.Lookup(e.Name); err != nil {
			if unknown, ok := errors.AsType[*catalog.UnknownError](err); ok && (unknown.Denied || unknown.Invalid) {
				return nil, err
			}
		}
	}
	return nil, nil
}

// Has reports whether a path is the SKILL.md of a skill that the catalog has.
func (s *Session) Has(ctx context.Context, path string) bool {
	k, err := s.at(ctx, path)
	return k != nil && err == nil
}

// leads answers where directories lead once links are followed. Those above them are asked about once.
type leads map[string]string

// to reports whether a directory leads to another one.
func (l leads) to(dir, real string) bool {
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		at, err := filepath.EvalSymlinks(dir)
		return err == nil && at == real
	}
	if filepath.Base(dir) != filepath.Base(real) {
		return false
	}
	above := filepath.Dir(dir)
	at, ok := l[above]
	if !ok {
		at, _ = filepath.EvalSymlinks(above) // "" leads nowhere
		l[above] = at
	}
	return at != "" && filepath.Join(at, filepath.Base(dir)) == real
}

// observe does the work, and notes in a record what it is done with.
func (s *Session) observe(ctx context.Context, seen *Observation, o Observed, r *audit.Record) error {
	if err := allowed(seen.Skill, o.Trigger); err != nil {
		return err
	}
	if err := s.nested(seen.Skill.Exact(), true); err != nil {
		return err
	}
	loaded, err := seen.Skill.Load()
	if err != nil {
		return err
	}
	r.Digest = loaded.Digest
	entry, err := s.entry(loaded, Activate{Arguments: o.Arguments, Trigger: o.Trigger})
	if err != nil {
		return err
	}
	entry.Call, entry.Turn = o.Call, o.Turn
	state, err := s.State()
	if err != nil {
		return err
	}
	if again(state, entry, o) {
		return nil
	}
	if err := s.push(state, entry); err != nil {
		return err
	}
	if o.Done {
		entry.Post = ""
		return s.observedKeep(ctx, seen, entry, o)
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
	return s.observedKeep(ctx, seen, entry, o)
}

// observedKeep makes a skill active, unless another process did so meanwhile.
func (s *Session) observedKeep(ctx context.Context, seen *Observation, entry Active, o Observed) error {
	if s.id == "" {
		return nil
	}
	return s.folder.change(ctx, s.id, func(state *State) error {
		if again(*state, entry, o) {
			return nil
		}
		if err := s.push(*state, entry); err != nil {
			return err
		}
		state.Active = append(state.Active, entry)
		seen.Entered = true
		return nil
	})
}

// again reports whether a skill is active in a way that nothing needs to be done about: by the same call, as the last one, or
// where its file is only read once more.
func again(state State, entry Active, o Observed) bool {
	for i, a := range state.Active {
		if same(entry, a) && (o.File || i == len(state.Active)-1 || o.Call != "" && a.Call == o.Call) {
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
	ended, err := s.endThose(ctx, func(a Active) bool { return a.Call == call })
	if len(ended) == 0 {
		return "", err
	}
	return ended[0], err
}

// EndTurn ends the skills that were activated for a prompt which is done, the last one first: all of them, or but those of
// the turn that begins. What came from a parent stays. It returns their names.
func (s *Session) EndTurn(ctx context.Context, begins string) (ended []string, err error) {
	if begins == Untold {
		defer func() { err = errors.Join(err, s.forgetTurn(ctx)) }()
	}
	return s.endThose(ctx, func(a Active) bool { return !a.Inherited && (begins == "" || a.Turn != begins) })
}

// forgetTurn has what was entered for a turn without an id end with the next one.
func (s *Session) forgetTurn(ctx context.Context) error {
	untold := func(a Active) bool { return a.Turn == Untold }
	if state, err := s.State(); err != nil || !slices.ContainsFunc(state.Active, untold) {
		return err
	}
	return s.folder.change(ctx, s.id, func(state *State) error {
		for i := range state.Active {
			if untold(state.Active[i]) {
				state.Active[i].Turn = ""
			}
		}
		return nil
	})
}

// endThose ends some of the skills, and runs what is to run after them.
func (s *Session) endThose(ctx context.Context, those func(Active) bool) (ended []string, err error) {
	state, err := s.State()
	if err != nil || !slices.ContainsFunc(state.Active, those) {
		return nil, err
	}
	var gone []Active
	err = s.folder.change(ctx, s.id, func(state *State) error {
		gone = nil
		state.Active = slices.DeleteFunc(state.Active, func(a Active) bool {
			if those(a) {
				gone = append(gone, a)
				return true
			}
			return false
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.after(ctx, gone)
}

// Inherit begins a session of a subagent with what is active in its parent's. A session that is kept already stays as it is.
func (s *Session) Inherit(ctx context.Context, parent string) error {
	if s.id == "" || parent == "" {
		return nil
	}
	from, err := s.folder.read(parent)
	if err != nil {
		return err
	}
	return s.folder.change(ctx, s.id, func(state *State) error {
		if state.Known() {
			return nil
		}
		for _, a := range from.Active {
			a.Inherited, a.Call, a.Turn, a.Post = true, "", "", ""
			state.Active = append(state.Active, a)
		}
		return nil
	})
}

// Kept reports whether there is a session of an id below a state directory, and nothing about what is in it.
func Kept(state, id string) bool {
	if id == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(Dir(state), fileName(id)))
	return !errors.Is(err, fs.ErrNotExist)
}

// RunAllowed returns why a script of a skill, or with "" its command, must not be run now: what other skills that are active
// do not let the shell tool run. A skill that the catalog does not have is not asked about.
func (s *Session) RunAllowed(ctx context.Context, name, script string) error {
	k, err := s.observed(ctx, name, Observed{})
	if k == nil || err != nil {
		return err
	}
	argv := []string{name}
	if script != "" {
		argv = []string{filepath.Join(k.Dir, filepath.FromSlash(script))}
	}
	return s.mayRun(k, RunOptions{Script: script, Trigger: Model}, argv)
}
