package session

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// defaultDepth is how many skills can be active inside each other where the settings do not say.
const defaultDepth = 5

// DefaultFileLimit is how many bytes a file may have that is read whole, where the settings do not say.
const DefaultFileLimit = 4 << 20

// Trigger is who asks for a skill.
type Trigger string

// Those who ask.
const (
	Model Trigger = "model"
	User  Trigger = "user"
)

// Options are what a session works with.
type Options struct {
	// Environment has the directory that sessions are kept in, Paths.State, and the one that scripts run in: Dir, or if
	// that is "" the project, or else the skill's directory.
	environ.Environment

	Profile *profile.Profile
	Catalog func(context.Context) (*catalog.Catalog, error) // asked when a skill is looked up, and not before
	Audit   *audit.Log
	Project string // the project's root, "" for none

	// ReadOnly are directories of skills that agents do not write to, whether these are active or not, as those of
	// packs.
	ReadOnly []string
	// Exists is what skillpm itself goes by: settings, policies, sessions, the audit log. Agents do not write to it
	// either.
	Kept []string

	MaxDepth    int           // 0 for DefaultDepth
	ScriptLimit time.Duration // 0 for that of package run
	FileLimit   int64         // 0 for DefaultFileLimit
	Shell       bool          // whether the commands in a body are run where the profile has them

	Guard Guard // what the policies allow; nil allows all

	// Helper is the program, with its first arguments, that confines the commands of skills: see [run.Command].
	Helper []string

	Trace audit.Trace // what the records of the audit log belong to; none where nobody traces
	Host  string      // the agent's program, as claude-code, for the audit log; "" where that is not known

	// Submit hands a skill to a runner and returns the task's id; nil where there are no runners.
	Submit func(context.Context, Fork) (string, error)
}

// Fork is a skill that runs apart, as a task.
type Fork struct {
	Skill, Pack, Dir string
	Agent, Model     string // as the skill says, "" for the default
	Body             string // with its arguments: all that the task is told
	Arguments        string
	Project          string
}

// Session is one session of an agent.
type Session struct {
	env    Options
	id     string
	folder folder
}

// Open returns the session of an id. Nothing is read before it is asked for. With an id of "" nothing is kept: there is
// no stack, and every tool may be called.
func Open(env Options, id string) (*Session, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	if env.MaxDepth <= 0 {
		env.MaxDepth = defaultDepth
	}
	env.MaxDepth = min(env.MaxDepth, maxActive)
	if env.FileLimit <= 0 {
		env.FileLimit = DefaultFileLimit
	}
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	if env.Now == nil {
		return nil, diag.Errorf(diag.Internal, "a session needs a clock")
	}
	return &Session{env: env, id: id, folder: folder{dir: Dir(env.Paths.State), now: env.Now}}, nil
}

// ID returns the session's id, "" for one that keeps nothing.
func (s *Session) ID() string { return s.id }

// State returns what is active. A state that cannot be relied upon is an error.
func (s *Session) State() (State, error) {
	if s.id == "" {
		return State{Version: version, Active: []Active{}}, nil
	}
	return s.folder.read(s.id)
}

// lookup finds the skill that a name means.
func (s *Session) lookup(ctx context.Context, name string) (*catalog.Skill, error) {
	c, err := s.env.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	return c.Lookup(name)
}

// forbidden returns the skill that a rule forbids, by the error of who looked it up: what was refused is on record as
// what it is, with its pack. It is nil for every other error.
func forbidden(err error) *catalog.Skill {
	if unknown, ok := errors.AsType[*catalog.UnknownError](err); ok {
		return unknown.Found
	}
	return nil
}

// record writes to the audit log what was done with a skill, and returns what is to be said if it cannot.
func (s *Session) record(r audit.Record, k *catalog.Skill) []string {
	s.fill(&r, k)
	if err := s.env.Audit.Write(r); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// fill notes in a record which skill it is about, and where.
func (s *Session) fill(r *audit.Record, k *catalog.Skill) {
	if k != nil {
		r.Skill, r.Pack, r.Version, r.Layer, r.Dir, r.Source = k.Name, k.Pack, k.Version, k.Layer, k.Dir, k.From
	}
	r.Session, r.Project, r.Host = s.id, s.env.Project, cmp.Or(r.Host, s.env.Host)
	r.Trace, r.Span = s.env.Trace.Trace, s.env.Trace.Span
	if s.env.Profile != nil {
		r.Profile = s.env.Profile.ID
	}
}

// recorded writes to the audit log what came to nothing, and returns its error: with a word, if that could not be
// written.
func (s *Session) recorded(err error, r audit.Record, k *catalog.Skill) error {
	if unrecorded := s.record(r, k); len(unrecorded) > 0 && !strings.Contains(err.Error(), unrecorded[0]) {
		return &unrecordedError{err, unrecorded[0]}
	}
	return err
}

// unrecordedError is an error that is not on record as it should be.
type unrecordedError struct {
	err error
	why string
}

// Error says both.
func (e *unrecordedError) Error() string {
	return e.err.Error() + "; and it is not on record: " + e.why
}

// Unwrap returns the error.
func (e *unrecordedError) Unwrap() error { return e.err }

// result returns what an error means to the audit log.
func result(err error) string {
	switch {
	case err == nil:
		return audit.OK
	case diag.CodeOf(err) == diag.Denied:
		return audit.Denied
	}
	return audit.Failed
}

// reason returns the text of an error for the audit log, "" for none. What a hook printed is left out.
func reason(err error) string {
	if err == nil {
		return ""
	}
	if h, ok := errors.AsType[*HookError](err); ok {
		quiet := *h
		quiet.Stderr = ""
		return quiet.Error()
	}
	return err.Error()
}
