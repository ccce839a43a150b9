package hook

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/secret"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

// Limit is how long an answer may take, and so the pre hook of a skill. It is less than agents are told to wait, which
// package attach writes; most of them let a call go ahead that is not answered in time.
const Limit = 55 * time.Second

// grace is how much longer an answer may take to end what it began, such as the post hook of a skill.
const grace = 3 * time.Second

// SessionRequest identifies the session to open.
type SessionRequest struct {
	Session string
	Parents []string // the sessions that it begins with, the nearest first
	Dir     string   // the root of the project, or a directory in it; "" if unknown
	Profile string   // the id of the agent, which selects its profile
}

// Options describe the event, and the environment in which it is answered.
type Options struct {
	Agent string // the id of the agent, or its alias
	Event string // the event's name on the command line; "" if the event has its name
	Dir   string // the directory of this process, used if the event has none; "" if it was deleted
	State string // the directory of states, as scope.Paths.State; "" if there is none, so that nothing can be active

	Getenv  func(string) string // reads the environment of this process, which the agent has set; nil for an empty one
	Now     func() time.Time    // the clock; required
	Secrets *secret.Set         // which denials leave out; nil for none
	Limit   time.Duration       // the maximum time of the answer; 0 for Limit

	// Open opens the skills of an agent. It is called only if they are needed.
	Open func(context.Context, SessionRequest) (*runtime.Host, error)
	// Lenient reports whether a tool call is allowed if its event cannot be parsed; nil for no.
	Lenient func(dir string) bool
	// Record writes an event that could not be answered to the audit log of a directory; nil for no log.
	Record func(dir string, r audit.Record) error
}

// Reply is the answer to the agent.
type Reply struct {
	Stdout []byte   // empty if there is nothing to answer
	Notes  []string // messages for the user
	Err    error    // why there is no answer; it stops nothing
}

// Answer answers one event. It takes at most [Limit], plus the short time in which the post hook of a skill may clean
// up. Then a tool call is denied, even if its input is still being checked: agents let calls go ahead that nobody
// answers.
func Answer(ctx context.Context, o Options, input io.Reader) (r Reply) {
	d, err := findDialect(o.Agent)
	if err != nil {
		return Reply{Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(o.Limit, Limit))
	defer cancel()
	t := hookEvent{typ: d.event(o.Event)}
	defer func() {
		if p := recover(); p != nil {
			r = o.fail(d, t, bug.New(p))
		}
	}()
	text, err := readEvent(ctx, input)
	if err == nil {
		t, err = d.parseEvent(o, text)
	}
	if err != nil {
		return o.fail(d, t, err)
	}
	w := handler{Options: o, dialect: d, event: t}
	if r, err = w.answerInTime(ctx); err != nil {
		return o.fail(d, t, err)
	}
	return r
}

// answerInTime answers the event, or returns an error soon after the context has ended.
func (w *handler) answerInTime(ctx context.Context) (Reply, error) {
	type answered struct {
		reply Reply
		err   error
	}
	done := make(chan answered, 1)
	bug.Go(func() {
		var a answered
		a.err = bug.Catch(func() (err error) {
			w.root = w.project()
			a.reply, err = w.answer(ctx)
			return err
		})
		done <- a
	})
	select {
	case a := <-done:
		return a.reply, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-done:
		return a.reply, a.err
	case <-time.After(grace):
		return Reply{}, fmt.Errorf("skillpm cannot answer in time: %w", ctx.Err())
	}
}

// project returns the directory from which the project of a session is found. An event's working directory changes with
// every cd of the model, and the skills would change with it.
func (w *handler) project() string {
	if w.event.typ.kind == other {
		return w.event.dir
	}
	for _, name := range w.dialect.variables {
		if w.Getenv == nil {
			break
		}
		if dir := w.Getenv(name); filepath.IsAbs(dir) {
			return filepath.Clean(dir)
		}
	}
	if w.event.root != "" {
		return w.event.root
	}
	id := cmp.Or(w.event.parent, w.event.session)
	if w.event.typ.kind == sessionEnd {
		defer session.ForgetRoot(w.State, id)
	}
	return session.Root(w.State, id, w.event.dir, w.Now())
}

// parseEvent parses an event. If that fails, it returns the event that the command line names.
func (d dialect) parseEvent(o Options, text []byte) (hookEvent, error) {
	data, err := decodeJSON(text)
	if err != nil {
		return hookEvent{typ: d.event(o.Event)}, err
	}
	return d.decodeEvent(o.Event, o.Dir, data)
}

// fail returns the answer to an event that cannot be answered: a denial if the agent asks about a tool call, unless the
// policy allows it, and an error otherwise.
func (o Options) fail(d dialect, t hookEvent, err error) (r Reply) {
	record := audit.Record{
		Action: audit.HookEvent, Result: audit.Failed, Host: d.agent.ID, Event: t.typ.name, Session: t.session,
		Tool: t.tool, Reason: err.Error(),
	}
	if !t.typ.kind.asks() || o.Lenient != nil && o.Lenient(t.dir) {
		r.Err = err
	} else {
		record.Result = audit.Denied
		reason := reasonOf(o.Secrets.RedactError(err))
		r = Reply{Stdout: answerOf(d.deny, t.typ.name, reason), Notes: []string{err.Error()}}
	}
	if o.Record != nil {
		if err := o.Record(t.dir, record); err != nil {
			r.Notes = append(r.Notes, err.Error())
		}
	}
	return r
}

// Denial returns the answer that denies a tool call, for an error of a command that cannot answer its event; nil if the
// agent asks nothing in an event of this name.
func Denial(agent, event string, err error) []byte {
	d, unknown := findDialect(agent)
	t := d.event(event)
	if unknown != nil || !t.kind.asks() {
		return nil
	}
	return answerOf(d.deny, t.name, reasonOf(err))
}

// handler answers one event.
type handler struct {
	Options
	dialect dialect
	event   hookEvent
	root    string // from which the project is found

	host *runtime.Host
}

// answer handles the event.
func (w *handler) answer(ctx context.Context) (Reply, error) {
	switch w.event.typ.kind {
	case preTool:
		return w.checkCall(ctx)
	case postTool, failedTool:
		return w.observeCall(ctx)
	case batch:
		return w.observeBatch(ctx)
	case prompt, expansion:
		return w.observePrompt(ctx)
	case stop:
		if w.event.background { // what goes on there is still the work of the skills
			return Reply{}, nil
		}
		return w.endSkills(ctx, false)
	case agentStop:
		return w.endAgent(ctx)
	case sessionEnd:
		return w.endSkills(ctx, true)
	case agentStart:
		return w.beginAgent(ctx)
	}
	return Reply{}, nil
}

// task returns the session of the task in which the agent runs, "" for none.
func (w *handler) task() string {
	if w.Getenv == nil {
		return ""
	}
	if id := w.Getenv("SKILLPM_SESSION"); session.IsTask(id) {
		return id
	}
	return ""
}

// parents returns the sessions with whose skills the session of the agent or subagent begins.
func (w *handler) parents() []string {
	return slices.DeleteFunc([]string{w.event.parent, w.task()}, func(id string) bool { return id == "" })
}

// mayBeActive reports whether a skill may be active in the session of the agent or subagent.
func (w *handler) mayBeActive() bool {
	exists := func(id string) bool { return session.Exists(w.State, id) }
	return exists(w.event.session) || slices.ContainsFunc(w.parents(), exists)
}

// beginAgent begins the session of a subagent. Its start shows that the user has agreed to the skill that it runs.
func (w *handler) beginAgent(ctx context.Context) (Reply, error) {
	if !w.mayBeActive() || w.event.parent == "" {
		return Reply{}, nil
	}
	s, err := w.openSession(ctx)
	if err != nil {
		return Reply{}, err
	}
	var r Reply
	if err := s.Other(w.event.parent, w.task()).ConfirmForks(ctx, w.event.agentType); err != nil {
		r.Notes = append(r.Notes, err.Error()) // the skill stays active, and every call is denied
	}
	return r, s.Inherit(ctx)
}

// openKept opens the session of the agent or subagent if its state is on disk; it returns nil otherwise.
func (w *handler) openKept(ctx context.Context) (*session.Session, error) {
	if !session.Exists(w.State, w.event.session) {
		return nil, nil
	}
	return w.open(ctx)
}

// open opens the session of the agent or subagent. The session of a subagent begins with the skills that are active in
// its parent's.
func (w *handler) open(ctx context.Context) (*session.Session, error) {
	s, err := w.openSession(ctx)
	if err != nil {
		return nil, err
	}
	return s, s.Inherit(ctx)
}

func (w *handler) openSession(ctx context.Context) (*session.Session, error) {
	if w.host == nil {
		h, err := w.openHost(ctx, w.root)
		if err != nil {
			return nil, err
		}
		w.host = h
	}
	return w.host.Session(), nil
}

func (w *handler) openHost(ctx context.Context, dir string) (*runtime.Host, error) {
	return w.Open(ctx, SessionRequest{
		Session: w.event.session, Parents: w.parents(), Dir: dir, Profile: w.dialect.agent.ID,
	})
}

// openServed opens the session with the skills that skillpm's server has, by its profile.
func (w *handler) openServed(ctx context.Context) (*session.Session, error) {
	h, err := w.Open(ctx, SessionRequest{Session: w.event.session, Parents: w.parents(), Dir: w.root})
	if err != nil {
		return nil, err
	}
	return h.Session(), nil
}

// answerOf fills in an answer.
func answerOf(form, event, reason string) []byte {
	values := strings.NewReplacer("{event}", jsonx.Quote(event), "{reason}", jsonx.Quote(reason))
	return append([]byte(values.Replace(form)), '\n')
}

// reasonOf returns an error and its hint for the model in one line.
func reasonOf(err error) string {
	return "skillpm: " + textx.OneLine(diag.ModelTextOf(err))
}
