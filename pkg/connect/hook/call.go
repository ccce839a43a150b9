package hook

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// hold makes the calls in a session wait while an activation is being decided, for agents that run the hooks of calls in
// one message at the same time.
func (w *handler) hold(ctx context.Context, uses []skillUse) (release func() error, err error) {
	none := func() error { return nil }
	if w.State == "" || !w.dialect.parallel {
		return none, nil
	}
	loads := slices.DeleteFunc(slices.Clone(uses), func(g skillUse) bool { return g.ran })
	if len(loads) == 0 || w.doesMore(loads) {
		if err := session.Await(ctx, w.State, w.event.session); err != nil || len(loads) == 0 {
			return none, err
		}
	}
	return session.Hold(ctx, w.State, w.event.session, w.Now())
}

// toolCall returns the event's call with the spellings of paths that its agent accepts.
func (w *handler) toolCall() tool.Call {
	return tool.Call{
		Tool: w.event.tool, Input: w.event.input, Dir: w.event.dir,
		Spellings: w.dialect.spellings, Directory: w.dialect.directory,
	}
}

// doesMore reports whether a call does more than to read the files of these skills.
func (w *handler) doesMore(uses []skillUse) bool {
	c := w.toolCall()
	return uses[0].file && len(c.OnlyReads()) != len(uses)
}

// checkCall decides whether a tool may be called.
func (w *handler) checkCall(ctx context.Context) (r Reply, err error) {
	uses := w.skillUses()
	release, err := w.hold(ctx, uses)
	if err != nil {
		return Reply{}, err
	}
	defer func() { err = errors.Join(err, release()) }()
	t := w.event
	if reply, refused, err := w.checkReads(ctx); refused || err != nil {
		return reply, err
	}
	if len(uses) == 0 && !w.mayBeActive() && (w.State == "" || !w.toolCall().MayWrite()) {
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
	r.Notes = v.Notes
	if !v.Allowed {
		r.Stdout = w.denial(v)
		return r, nil
	}
	if part, ofServer := tool.OfSkills(t.tool); ofServer && part == tool.End {
		g, _ := skillUseOf(t.input)
		err = s.CheckEnd(ctx, g.name)
	}
	for _, g := range uses {
		if err == nil {
			err = w.checkUse(ctx, s, g, &r)
		}
	}
	if err != nil {
		r.Stdout = answerOf(w.dialect.deny, t.typ.name, reasonOf(err))
	}
	return r, nil
}

// checkUse returns why a call must not use a skill, and records the skill as active otherwise.
func (w *handler) checkUse(ctx context.Context, s *session.Session, g skillUse, r *Reply) error {
	if g.served {
		served, err := w.openServed(ctx)
		if err != nil {
			return err
		}
		s = served
	}
	if g.ran {
		return s.RunAllowed(ctx, g.name, g.script)
	}
	o := session.Observed{
		Served: g.served, Arguments: g.arguments, Call: w.event.call, Turn: w.event.turn, File: g.file, Deep: g.deep,
	}
	seen, err := s.Observe(ctx, g.name, o)
	if err == nil && seen.Skill == nil && !g.served && w.event.dir != "" && w.event.dir != w.root {
		// The model works in another project than the session began in.
		var h *runtime.Host
		if h, err = w.openHost(ctx, w.event.dir); err == nil {
			seen, err = h.Session().Observe(ctx, g.name, o)
		}
	}
	r.Notes = append(r.Notes, seen.Notes...)
	return err
}

// checkReads refuses to read files of skills that a policy denies, with any tool that shows files. Links to a denied
// skill are removed, but its installed files stay until the pack is removed.
func (w *handler) checkReads(ctx context.Context) (r Reply, refused bool, err error) {
	var dirs []string
	for _, file := range w.readFiles() {
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

// call returns the tool call to check. If an agent has no tool for skills, a call that only reads SKILL.md, by every
// spelling of its paths, counts as that tool, because activating a skill is always allowed.
func (w *handler) call(ctx context.Context, s *session.Session, uses []skillUse) tool.Call {
	c := w.toolCall()
	if !w.dialect.reads || len(uses) == 0 || len(c.OnlyReads()) != len(uses) || len(w.readFiles()) != len(uses) {
		return c
	}
	for _, g := range uses {
		if !g.file || !s.Has(ctx, g.name) {
			return c
		}
	}
	return tool.Call{Tool: "Skill"}
}

// denial returns why a call is refused, what to do instead, and how long that lasts.
func (w *handler) denial(v session.Verdict) []byte {
	reason := v.Reason
	if len(v.Instead) > 0 {
		reason += "; use only " + strings.Join(w.toolNames(v.Instead), ", ")
	}
	switch {
	case v.Skill == "" || v.ReadOnly:
	case w.event.parent != "":
		reason += "; the restriction applies until the skill or this agent ends"
	default:
		reason += "; the restriction applies until the skill or this turn ends"
	}
	return answerOf(w.dialect.deny, w.event.typ.name, reason)
}

// toolNames returns the allowed entries of a tool list with the agent's names.
func (w *handler) toolNames(entries []string) (names []string) {
	for _, entry := range entries {
		if strings.HasPrefix(entry, "-") { // disallowed
			continue
		}
		name, pattern, _ := strings.Cut(entry, "(")
		if own := w.dialect.names[name]; own != "" {
			name = own
		}
		if pattern != "" {
			name += "(" + pattern
		}
		names = append(names, name)
	}
	return names
}
