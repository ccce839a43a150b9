package hook

import (
	"context"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// observeCall updates the session after a tool call.
func (w *handler) observeCall(ctx context.Context) (Reply, error) {
	t := w.event
	part, ofServer := tool.OfSkills(t.tool)
	switch {
	case ofServer && part == tool.End: // even if the server's own session has no such skill
		return w.endOne(ctx)
	case ofServer && part != tool.Activate:
		return Reply{}, nil
	case t.failed || t.finished:
		return w.undoFailed(ctx)
	case part == tool.Activate, w.dialect.reads && part == "":
		return w.confirm(ctx, part == tool.Activate)
	}
	return Reply{}, nil
}

// observeBatch ends the skills of calls that the user refused: the agent reports no other end of them.
func (w *handler) observeBatch(ctx context.Context) (Reply, error) {
	s, err := w.openKept(ctx)
	if s == nil {
		return Reply{}, err
	}
	return Reply{}, s.RetractPending(ctx, w.event.calls)
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

// confirm notes that a call has succeeded. If the pre hook of its skill fails, the model is told not to follow the
// instructions.
func (w *handler) confirm(ctx context.Context, loads bool) (Reply, error) {
	var r Reply
	_, served := tool.OfSkills(w.event.tool) // the server has told the terms
	s, err := w.openKept(ctx)
	if s != nil {
		terms, failed := s.Confirm(ctx, w.event.call)
		switch {
		case failed != nil:
			r.Stdout = answerOf(w.dialect.block, w.event.typ.name, reasonOf(failed))
			return r, nil
		case terms != "" && w.dialect.tell != "" && !served:
			r.Stdout = answerOf(w.dialect.tell, w.event.typ.name, terms)
		}
		if w.event.digest {
			err = s.ForgetCall(ctx, w.event.call)
		}
	}
	if err != nil || !loads {
		return r, err
	}
	done, err := w.observeDone(ctx)
	r.Notes = append(r.Notes, done.Notes...)
	return r, err
}

// observeDone records a skill that the model has loaded: one that skillpm activated for the agent in another session,
// or one of the agent's that has another name than the call used.
func (w *handler) observeDone(ctx context.Context) (Reply, error) {
	_, served := tool.OfSkills(w.event.tool)
	g, ok := skillUseOf(w.event.input)
	if w.event.loaded != "" {
		g.name, ok = normalizeName(w.event.loaded), true
	}
	if !ok {
		return Reply{}, nil
	}
	s, err := w.open(ctx)
	if err == nil && served {
		s, err = w.openServed(ctx)
	}
	if err != nil {
		return Reply{}, err
	}
	seen, err := s.Observe(ctx, g.name, session.Observed{
		Arguments: g.arguments, Call: w.event.call,
		Turn: w.event.turn, AlreadyLoaded: true, Deep: g.deep, Served: served,
	})
	if err == nil && w.event.digest {
		err = s.ForgetCall(ctx, w.event.call)
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
	_, err = s.Deactivate(ctx, g.name, session.Model)
	if diag.CodeOf(err) == diag.NotFound {
		err = nil // it ended in its own session, and was never active in this one
	}
	return Reply{}, err
}

// taskNotification begins a prompt with which the agent, not the user, reports the end of work in the background.
const taskNotification = "<task-notification>"

// observePrompt ends the skills of the last prompt, and activates those that the user starts with this one.
func (w *handler) observePrompt(ctx context.Context) (Reply, error) {
	t := w.event
	if strings.HasPrefix(strings.TrimSpace(t.prompt), taskNotification) {
		return Reply{}, nil
	}
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
