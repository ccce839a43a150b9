package hook

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// Limit is how long an answer may take, and so the pre hook of a skill. It is less than agents are told to wait, which
// package attach writes; most of them let a call go ahead that is not answered in time.
const Limit = 55 * time.Second

// SessionRequest says for whom a session is opened.
type SessionRequest struct {
	Session string
	Dir     string // the root of the project, or a directory in it; "" where that is not known
	Profile string // the id of the agent, which stands for its profile
}

// Options say which event is answered, and with what.
type Options struct {
	Agent string // the id of the agent, or its alias
	Event string // what the command line calls the event; "" where the event says it itself
	Dir   string // the directory of this process, where the event says none; "" where that is gone
	State string // the directory of states, as scope.Paths.State; "" where there is none, so that nothing can be active

	Getenv func(string) string // the environment that the agent has given to this process; nil for an empty one
	Now    func() time.Time    // the clock; it is needed
	Limit  time.Duration       // how long the answer may take; 0 for Limit

	// Open opens the skills of an agent. It is called where they are needed, and not before.
	Open func(context.Context, SessionRequest) (*runtime.Host, error)
	// Lenient reports whether a call goes ahead that is asked about in a way that cannot be read; nil for no.
	Lenient func(dir string) bool
	// Record notes what could not be answered in the audit log of a directory; nil for no log.
	Record func(dir string, r audit.Record) error
}

// Reply is what the agent is told.
type Reply struct {
	Stdout []byte   // nothing where there is nothing to say
	Notes  []string // what people should know
	Err    error    // why there is no answer; nothing is stopped by it
}

// Answer answers one event. It never panics, and takes no longer than [Limit], but for the moments in which a hook of a
// skill that is ended may clear up.
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
			r = o.fail(d, t, diag.Errorf(diag.Internal, "skillpm is at fault: %v", p))
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
	w.root = w.project()
	r, err = w.answer(ctx)
	if err != nil {
		return o.fail(d, t, err)
	}
	return r
}

// project returns the directory that the project of a session is found by. What an event says of the directory that is
// worked in changes with every cd of the model, and with it the skills would.
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

// parseEvent returns what an event says. Where it fails, the event is the one that the command line names.
func (d dialect) parseEvent(o Options, text []byte) (hookEvent, error) {
	data, err := decodeJSON(text)
	if err != nil {
		return hookEvent{typ: d.event(o.Event)}, err
	}
	return d.decodeEvent(o.Event, o.Dir, data)
}

// fail is the answer where there is none: a denial where the agent asks, unless a policy says open, and else an error.
func (o Options) fail(d dialect, t hookEvent, err error) (r Reply) {
	record := audit.Record{
		Action: audit.HookEvent, Result: audit.Failed, Host: d.agent.HookID(), Event: t.typ.name, Session: t.session,
		Tool: t.tool, Reason: err.Error(),
	}
	if !t.typ.kind.asks() || o.Lenient != nil && o.Lenient(t.dir) {
		r.Err = err
	} else {
		record.Result = audit.Denied
		r = Reply{Stdout: answerOf(d.deny, t.typ.name, reasonOf(err)), Notes: []string{err.Error()}}
	}
	if o.Record != nil {
		if err := o.Record(t.dir, record); err != nil {
			r.Notes = append(r.Notes, err.Error())
		}
	}
	return r
}

// handler is one event that is answered.
type handler struct {
	Options
	dialect dialect
	event   hookEvent
	root    string // that the project is found by

	host *runtime.Host
}

// answer does what an event asks for.
func (w *handler) answer(ctx context.Context) (Reply, error) {
	switch w.event.typ.kind {
	case preTool:
		return w.checkCall(ctx)
	case postTool, failedTool:
		return w.observeCall(ctx)
	case prompt, expansion:
		return w.observePrompt(ctx)
	case stop:
		return w.endSkills(ctx, false)
	case agentStop:
		return w.endAgent(ctx)
	case sessionEnd:
		return w.endSkills(ctx, true)
	case agentStart:
		if !session.Exists(w.State, w.event.parent) {
			return Reply{}, nil
		}
		_, err := w.open(ctx)
		return Reply{}, err
	}
	return Reply{}, nil
}

// mayBeActive reports whether something may be active for whoever acts.
func (w *handler) mayBeActive() bool {
	return session.Exists(w.State, w.event.session) || session.Exists(w.State, w.event.parent)
}

// openKept opens the session of whoever acts, if something of it is kept; nil if not.
func (w *handler) openKept(ctx context.Context) (*session.Session, error) {
	if !session.Exists(w.State, w.event.session) {
		return nil, nil
	}
	return w.open(ctx)
}

// open opens the session of whoever acts. One of a subagent begins with what is active in its parent's.
func (w *handler) open(ctx context.Context) (*session.Session, error) {
	if w.host == nil {
		h, err := w.Open(ctx, SessionRequest{
			Session: w.event.session, Dir: w.root, Profile: w.dialect.agent.ID,
		})
		if err != nil {
			return nil, err
		}
		w.host = h
		if w.event.parent != "" && !session.Exists(w.State, w.event.session) &&
			session.Exists(w.State, w.event.parent) {
			if err := h.Session().Inherit(ctx, w.event.parent); err != nil {
				return nil, err
			}
		}
	}
	return w.host.Session(), nil
}

// checkCall answers whether a tool may be called.
func (w *handler) checkCall(ctx context.Context) (Reply, error) {
	t := w.event
	uses := w.skillUses()
	if len(uses) == 0 && !w.mayBeActive() && (!tool.Writes(t.tool) || w.State == "") {
		return Reply{}, nil
	}
	s, err := w.open(ctx)
	if err != nil {
		return Reply{}, err
	}
	v, err := s.Allow(ctx, w.call(ctx, s, uses))
	if err != nil {
		return Reply{}, err
	}
	r := Reply{Notes: v.Notes}
	if !v.Allowed {
		r.Stdout = w.denial(v)
		return r, nil
	}
	for _, g := range uses {
		if g.ran {
			err = s.RunAllowed(ctx, g.name, g.script)
		} else {
			var seen session.Observation
			seen, err = s.Observe(ctx, g.name, session.Observed{
				Arguments: g.arguments, Call: t.call, Turn: t.turn,
				File: g.file, Deep: g.deep,
			})
			r.Notes = append(r.Notes, seen.Notes...)
		}
		if err != nil {
			r.Stdout = answerOf(w.dialect.deny, t.typ.name, reasonOf(err))
			return r, nil
		}
	}
	return r, nil
}

// call is what the session is asked about. Where an agent has no tool for skills, a call that reads SKILL.md and does
// nothing else is that tool: the way to skills is always open.
func (w *handler) call(ctx context.Context, s *session.Session, uses []skillUse) tool.Call {
	c := tool.Call{Tool: w.event.tool, Input: w.event.input, Dir: w.event.dir}
	if !w.dialect.reads || len(uses) == 0 || len(c.OnlyReads()) != len(uses) {
		return c
	}
	for _, g := range uses {
		if !g.file || !s.Has(ctx, g.name) {
			return c
		}
	}
	return tool.Call{Tool: "Skill"}
}

// denial says why a call is refused, and until when.
func (w *handler) denial(v session.Verdict) []byte {
	reason := v.Reason
	switch {
	case v.Skill == "" || v.ReadOnly:
	case w.event.parent != "":
		reason += "; this holds until the skill ends, with this agent at the latest"
	default:
		reason += "; this holds until the skill ends, with this turn at the latest"
	}
	return answerOf(w.dialect.deny, w.event.typ.name, reason)
}

// observeCall learns from a call that was made.
func (w *handler) observeCall(ctx context.Context) (Reply, error) {
	t := w.event
	part, ofServer := tool.OfSkills(t.tool)
	switch {
	case ofServer && t.failed:
		return Reply{}, nil
	case ofServer && part == tool.Activate:
		return w.observeDone(ctx)
	case ofServer && part == tool.End:
		return w.endOne(ctx)
	case t.failed || t.finished:
		return w.undoFailed(ctx)
	case part == tool.Activate:
		return w.observeDone(ctx)
	}
	return Reply{}, nil
}

// undoFailed ends what a call began that came to nothing, or is done with it.
func (w *handler) undoFailed(ctx context.Context) (Reply, error) {
	s, err := w.openKept(ctx)
	if s == nil {
		return Reply{}, err
	}
	_, err = s.Retract(ctx, w.event.call)
	return Reply{}, err
}

// observeDone enters a skill that the model has now: one that skillpm itself has activated for the agent, in another
// session than the agent's, or one of the agent's own that was not known by the name it was asked for with.
func (w *handler) observeDone(ctx context.Context) (Reply, error) {
	g, ok := skillUseOf(w.event.input)
	if w.event.loaded != "" {
		g.name, ok = normalizeName(w.event.loaded), true
	}
	if !ok {
		return Reply{}, nil
	}
	s, err := w.open(ctx)
	if err != nil {
		return Reply{}, err
	}
	seen, err := s.Observe(ctx, g.name, session.Observed{
		Arguments: g.arguments, Call: w.event.call,
		Turn: w.event.turn, AlreadyLoaded: true, Deep: g.deep,
	})
	if err == nil && w.event.digest {
		err = s.FinishCall(ctx, w.event.call)
	}
	return Reply{Notes: seen.Notes}, err
}

// endOne ends a skill that the model has ended by skillpm's own tool.
func (w *handler) endOne(ctx context.Context) (Reply, error) {
	s, err := w.openKept(ctx)
	if s == nil {
		return Reply{}, err
	}
	g, _ := skillUseOf(w.event.input)
	_, err = s.Deactivate(ctx, g.name)
	if diag.CodeOf(err) == diag.NotFound {
		err = nil // it ended in its own session, and was never active in this one
	}
	return Reply{}, err
}

// observePrompt ends what was active for the last prompt, and enters what the user asks for with this one.
func (w *handler) observePrompt(ctx context.Context) (Reply, error) {
	t := w.event
	uses := w.promptedSkills()
	if len(uses) == 0 && !session.Exists(w.State, t.session) {
		return Reply{}, nil
	}
	s, err := w.open(ctx)
	if err != nil {
		return Reply{}, err
	}
	turn := t.turn
	if turn == "" {
		turn = session.UnknownTurn
	}
	var r Reply
	if _, err := s.EndTurn(ctx, turn); err != nil {
		r.Notes = append(r.Notes, err.Error()) // a post hook that fails, as everywhere, stops nothing
	}
	trigger := session.User
	if t.parent != "" {
		trigger = session.Model
	}
	for _, g := range uses {
		o := session.Observed{Arguments: g.arguments, Trigger: trigger, Turn: t.turn, Deep: g.deep}
		if t.typ.kind == expansion {
			o.Turn = turn
		}
		seen, err := s.Observe(ctx, g.name, o)
		r.Notes = append(r.Notes, seen.Notes...)
		if err != nil {
			r.Stdout = answerOf(w.dialect.block, t.typ.name, reasonOf(err))
			return r, nil
		}
	}
	return r, nil
}

// endAgent ends what is active in a subagent. Where an agent does not say which one ended, nothing does: it would be
// the main agent's.
func (w *handler) endAgent(ctx context.Context) (Reply, error) {
	if w.event.parent != "" {
		return w.endSkills(ctx, true)
	}
	if !w.dialect.agentIsSession {
		return Reply{}, nil
	}
	s, err := w.openKept(ctx)
	if s == nil {
		return Reply{}, err
	}
	state, err := s.State()
	if err != nil || !slices.ContainsFunc(state.Active, func(a session.Active) bool { return a.Inherited }) {
		return Reply{}, err
	}
	return w.endSkills(ctx, true)
}

// endSkills ends what is active: with the turn what was activated for it, and with a session or a subagent all of it.
func (w *handler) endSkills(ctx context.Context, sessionEnds bool) (Reply, error) {
	s, err := w.openKept(ctx)
	if s == nil {
		return Reply{}, err
	}
	if sessionEnds {
		_, err = s.End(ctx)
	} else {
		_, err = s.EndTurn(ctx, "")
	}
	return Reply{}, err
}

// answerOf fills in an answer.
func answerOf(form, event, reason string) []byte {
	values := strings.NewReplacer("{event}", jsonx.Quote(event), "{reason}", jsonx.Quote(reason))
	return append([]byte(values.Replace(form)), '\n')
}

// reasonOf says an error and what to do about it in one line.
func reasonOf(err error) string {
	return "skillpm: " + textx.OneLine(diag.TextOf(err))
}
