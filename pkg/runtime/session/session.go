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

// defaultDepth is how many skills can be nested if the settings do not say.
const defaultDepth = 5

// DefaultFileLimit is the maximum size in bytes of a file that Read returns if the settings do not say.
const DefaultFileLimit = 4 << 20

// Trigger is who asks for a skill: the model or the user.
type Trigger string

// Who starts a skill.
const (
	Model Trigger = "model"
	User  Trigger = "user"
)

// Options configure a [Session].
type Options struct {
	// Environment.Paths.State is the directory for state files. Scripts run in Environment.Dir, or if that is "" in the
	// project, or else in the skill's directory.
	environ.Environment

	Profile *profile.Profile
	Catalog func(context.Context) (*catalog.Catalog, error) // called when a skill is looked up
	Audit   *audit.Log
	Project string // the project's root, "" for none

	// ReadOnly are directories of skills, such as those of packs, that agents must not write to.
	ReadOnly []string
	// Kept are skillpm's own files, which agents must not write to: settings, policies, sessions, the audit log.
	Protected []string

	// Parents are the sessions whose active skills also restrict this one: that of the agent that started this subagent,
	// and that of a task. The session begins with the skills of the first that has state.
	Parents []string

	MaxDepth    int           // 0 for defaultDepth
	ScriptLimit time.Duration // 0 for DefaultScriptLimit
	FileLimit   int64         // 0 for DefaultFileLimit
	Shell       bool          // run the commands in skill bodies if the profile supports them

	Guard Guard // decisions of policies; nil allows everything

	// Helper is the program, with its first arguments, that confines the commands of skills: see [run.Command].
	Helper []string

	Trace audit.Trace // trace that audit records belong to; may be zero
	Host  string      // id of the agent for the audit log, such as claude-code; "" if unknown

	// Submit starts a skill as a task and returns the task's id; nil if no runner is configured.
	Submit func(context.Context, Fork) (string, error)
	// CheckRunner returns why no runner can run tasks of a kind of agent; nil for a check by Submit alone.
	CheckRunner func(agent string) error
}

// Fork is a skill to run as a task.
type Fork struct {
	Skill, Pack, Dir string
	Agent, Model     string // as the skill names them, "" for the default
	Body             string // instructions with arguments inserted: all that the task gets
	Arguments        string
	Project          string
	// Session is the id of the task's session, in which the skill and those of the caller are active. Whoever runs the
	// task checks the task's tool calls in it, and ends it with [Session.End] when the task has ended.
	Session string
}

// Session activates skills in one session of an agent, and decides which tool calls they allow.
type Session struct {
	env    Options
	id     string
	folder folder
}

// Open returns the session with an id. It reads nothing yet. With id "" the session keeps no state: it has no stack,
// and every tool is allowed.
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

// Other returns another session of the same agent.
func (s *Session) Other(id string, parents ...string) *Session {
	other := *s
	other.id, other.env.Parents = id, parents
	return &other
}

// ID returns the session's id, "" if it keeps no state.
func (s *Session) ID() string { return s.id }

// State returns the active skills. A session without state has those of its first parent that has state. A damaged
// state file is an error.
func (s *Session) State() (State, error) {
	if s.id == "" {
		return State{Version: version, Active: []Active{}}, nil
	}
	state, err := s.folder.read(s.id)
	if err != nil || state.Known() {
		return state, err
	}
	for _, id := range s.env.Parents {
		parent, err := s.folder.read(id)
		if err != nil {
			return state, err
		}
		if parent.Known() {
			state.Active = inherited(parent.Active)
			break
		}
	}
	return state, nil
}

// inherited returns the skills of a session as a session below it has them.
func inherited(active []Active) []Active {
	below := make([]Active, 0, len(active))
	for _, a := range active {
		a.Inherited, a.Call, a.Turn, a.Pre, a.Post, a.Pending = true, "", "", "", "", false
		below = append(below, a)
	}
	return below
}

func (s *Session) lookup(ctx context.Context, name string) (*catalog.Skill, error) {
	c, err := s.env.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	return c.Lookup(name)
}

// forbidden returns the skill that a policy denied, so that the audit record can name its pack. It returns nil for
// other errors.
func forbidden(err error) *catalog.Skill {
	if unknown, ok := errors.AsType[*catalog.UnknownError](err); ok {
		return unknown.Found
	}
	return nil
}

// record writes an audit record about a skill, and returns a warning if that fails.
func (s *Session) record(r audit.Record, k *catalog.Skill) []string {
	s.fill(&r, k)
	if err := s.env.Audit.Write(r); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// fill completes a record with the skill and the session.
func (s *Session) fill(r *audit.Record, k *catalog.Skill) {
	if k != nil {
		r.Skill, r.Pack, r.Version, r.Layer, r.Dir, r.Source = k.Name, k.Pack, k.Version, k.Layer, k.Dir, k.PackSource
	}
	r.Session, r.Project, r.Host = s.id, s.env.Project, cmp.Or(r.Host, s.env.Host)
	r.Trace, r.Span = s.env.Trace.Trace, s.env.Trace.Span
	if s.env.Profile != nil {
		r.Profile = s.env.Profile.ID
	}
}

// recordFailure writes an audit record about a failure and returns the failure's error, extended if the record could
// not be written.
func (s *Session) recordFailure(err error, r audit.Record, k *catalog.Skill) error {
	if unrecorded := s.record(r, k); len(unrecorded) > 0 && !strings.Contains(err.Error(), unrecorded[0]) {
		return &unrecordedError{err, unrecorded[0]}
	}
	return err
}

// unrecordedError is an error that the audit log does not have.
type unrecordedError struct {
	err error
	why string
}

func (e *unrecordedError) Error() string {
	return e.err.Error() + "; skillpm cannot record the operation: " + e.why
}

func (e *unrecordedError) Unwrap() error { return e.err }

// result returns the audit result for an error.
func result(err error) string {
	switch {
	case err == nil:
		return audit.OK
	case diag.CodeOf(err) == diag.Denied:
		return audit.Denied
	}
	return audit.Failed
}

// reason returns the text of an error for the audit log, "" for nil. It leaves out the output of hooks.
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
