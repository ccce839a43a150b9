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

// SessionRequest identifies the session to open.
type SessionRequest struct {
	Session string
	Dir     string // the root of the project, or a directory in it; "" if unknown
	Profile string // the id of the agent, which selects its profile
}

// Options describe the event, and the environment in which it is answered.
type Options struct {
	Agent string // the id of the agent, or its alias
	Event string // the event's name on the command line; "" if the event has its name
	Dir   string // the directory of this process, used if the event has none; "" if it was deleted
	State string // the directory of states, as scope.Paths.State; "" if there is none, so that nothing can be active

	Getenv func(string) string // reads the environment of this process, which the agent has set; nil for an empty one
	Now    func() time.Time    // the clock; required
	Limit  time.Duration       // the maximum time of the answer; 0 for Limit

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

// Answer answers one event. It never panics, and takes at most [Limit], plus the short time in which the post hook of a
// skill may clean up.
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
			r = o.fail(d, t, diag.Errorf(diag.Internal, "internal error in skillpm: %v", p))
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
		r = Reply{Stdout: answerOf(d.deny, t.typ.name, reasonOf(err)), Notes: []string{err.Error()}}
	}
	if o.Record != nil {
		if err := o.Record(t.dir, record); err != nil {
			r.Notes = append(r.Notes, err.Error())
		}
	}
	return r
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

// mayBeActive reports whether a skill may be active in the session of the agent or subagent.
func (w *handler) mayBeActive() bool {
	return session.Exists(w.State, w.event.session) || session.Exists(w.State, w.event.parent)
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

// checkCall decides whether a tool may be called.
func (w *handler) checkCall(ctx context.Context) (Reply, error) {
	t := w.event
	if reply, refused, err := w.checkReads(ctx); refused || err != nil {
		return reply, err
	}
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

// checkReads refuses to read files of skills that a policy denies, with any tool that shows files. Links to a denied
// skill are removed, but its installed files stay until the pack is removed.
func (w *handler) checkReads(ctx context.Context) (r Reply, refused bool, err error) {
	var dirs []string
	for _, file := range readFiles(w.event) {
		dirs = append(dirs, session.SkillDirs(file)...)
	}
	if len(dirs) == 0 {
		return Reply{}, false, nil
	}
	s, err := w.open(ctx)
	if err != nil {
		return Reply{}, false, err
	}
	if err := s.CheckRead(ctx, dirs); err != nil {
		return Reply{Stdout: answerOf(w.dialect.deny, w.event.typ.name, reasonOf(err))}, true, nil
	}
	return Reply{}, false, nil
}

// call returns the tool call to check. If an agent has no tool for skills, a call that only reads SKILL.md counts as
// that tool, because activating a skill is always allowed.
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

// denial returns why a call is refused, and how long that lasts.
func (w *handler) denial(v session.Verdict) []byte {
	reason := v.Reason
	switch {
	case v.Skill == "" || v.ReadOnly:
	case w.event.parent != "":
		reason += "; the restriction applies until the skill or this agent ends"
	default:
		reason += "; the restriction applies until the skill or this turn ends"
	}
	return answerOf(w.dialect.deny, w.event.typ.name, reason)
}

// observeCall updates the session after a tool call.
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

// undoFailed ends what a failed call began, or what has ended with the call.
func (w *handler) undoFailed(ctx context.Context) (Reply, error) {
	s, err := w.openKept(ctx)
	if s == nil {
		return Reply{}, err
	}
	_, err = s.Retract(ctx, w.event.call)
	return Reply{}, err
}

// observeDone records a skill that the model has loaded: one that skillpm activated for the agent in another session,
// or one of the agent's that has another name than the call used.
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

// endOne ends a skill that the model has ended with skillpm's own tool.
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

// observePrompt ends the skills of the last prompt, and activates those that the user starts with this one.
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
		r.Notes = append(r.Notes, err.Error()) // a post hook that fails stops nothing
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

// endAgent ends the skills of a subagent. If the event does not identify the subagent, none ends: they would be the
// main agent's.
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

// endSkills ends skills: those of the turn at its end, and all at the end of a session or subagent.
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

// reasonOf returns an error and its hint for the model in one line.
func reasonOf(err error) string {
	return "skillpm: " + textx.OneLine(diag.ModelTextOf(err))
}
