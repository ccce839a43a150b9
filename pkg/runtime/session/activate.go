package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/tokens"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// Activate are the options of an activation.
type Activate struct {
	Arguments string
	Trigger   Trigger // "" for Model
	Parent    string  // name of the active skill that it is part of; "" if the texts of the skills decide
	Inline    bool    // activate the skill here even if it asks for a task
	Shell     bool    // run the commands in its body even if the settings don't

	Task         bool   // run it as a task even if it does not ask for one
	Agent, Model string // agent and model of its task; "" for those that the skill names

	Begin func(*catalog.Skill) // called after all checks and before the pre hook; may be nil
}

// Activation is a skill that was activated, or submitted as a task.
type Activation struct {
	Skill     *catalog.Skill
	Arguments string
	Body      string // instructions with arguments inserted
	Source    string // SKILL.md with Body in place of its body
	TaskID    string // id of the task that runs the skill, "" if it is active here
	Session   string // id of the session in which it is active, "" if nothing is stored
	Repeated  bool   // the skill was active already, and nothing changed
	Files     []prompt.File
	Allowed   []string // patterns of its allowed tools
	Command   string   // command of its frontmatter, "" for none
	Model     string   // model that the skill asks for, "" for none
	Agent     string   // kind of agent that runs the skill as a task, "" for the default
	Tools     tool.Set // tools that the active skills allow, this one included
	Toolsets  []string // toolsets that the skill needs
	Stack     []string // names of the active skills, this one included
	Ended     []string // names of the skills that ended because this one is not part of their work
	Warnings  []string // what the user should know
	Started   time.Time
	Duration  time.Duration
}

// Result returns the activation in the form that package prompt writes.
func (a *Activation) Result() prompt.Result {
	r := prompt.Result{
		Kind: prompt.Activated, Name: a.Skill.Name, Dir: a.Skill.Dir, Description: a.Skill.Description,
		Body: a.Body, Source: a.Source, Files: a.Files, Model: a.Model, AllowedTools: a.Allowed, Repeated: a.Repeated,
		Restriction: a.Terms("it ends when another skill follows, or with the session"),
		Started:     a.Started, Duration: a.Duration,
		Toolsets: a.Toolsets,
	}
	if a.TaskID != "" {
		r.Kind, r.TaskID = prompt.Spawned, a.TaskID
	}
	return r
}

// Activate activates the skill with this name: it looks it up, checks policies, frontmatter and active skills, runs the
// pre hook, expands the text, and stores the state, in this order. If it returns an error, the skill is not active.
func (s *Session) Activate(ctx context.Context, name string, o Activate) (*Activation, error) {
	started := s.env.Now()
	if o.Trigger == "" {
		o.Trigger = Model
	}
	k, err := s.lookup(ctx, name)
	if err != nil {
		return nil, s.recordFailure(err, audit.Record{
			Action: audit.Activate, Result: result(err), Skill: name,
			Trigger: string(o.Trigger), Reason: err.Error(),
		}, forbidden(err))
	}
	a := &Activation{Skill: k, Session: s.id, Arguments: o.Arguments, Started: started}
	r := audit.Record{Action: audit.Activate, Trigger: string(o.Trigger)}
	err = s.activate(ctx, a, o, &r)
	a.Duration = s.env.Now().Sub(started)
	if r.Task = a.TaskID; r.Task != "" {
		r.Action = audit.Task
	}
	r.Result, r.Reason, r.DurationMS = result(err), cmp.Or(reason(err), r.Reason), a.Duration.Milliseconds()
	if err != nil {
		return nil, s.recordFailure(err, r, k)
	}
	r.Tokens = int64(tokens.Estimate(a.Body))
	unrecorded := s.record(r, k)
	if len(unrecorded) > 0 && s.env.Audit.Required() {
		return nil, s.rollBack(ctx, a, unrecorded[0])
	}
	a.Warnings = append(a.Warnings, unrecorded...)
	return a, nil
}

// activate does the work of Activate and completes the audit record.
func (s *Session) activate(ctx context.Context, a *Activation, o Activate, r *audit.Record) error {
	if err := checkTrigger(a.Skill, o.Trigger); err != nil {
		return err
	}
	if err := s.checkNesting(a.Skill.Exact(), true); err != nil {
		return err
	}
	loaded, err := a.Skill.Load()
	if err != nil {
		return err
	}
	r.Digest = loaded.Digest
	active, err := s.newActive(loaded, o)
	if err != nil {
		return err
	}
	a.Allowed = active.Allowed
	if a.Warnings, err = s.decide(ctx, loaded, r); err != nil {
		return err
	}
	state, err := s.State()
	if err != nil {
		return err
	}
	a.Model, a.Agent = cmp.Or(o.Model, loaded.Front.Model), cmp.Or(o.Agent, loaded.Agent, loaded.Front.Agent)
	if o.Task || a.Skill.Fork && !o.Inline {
		return s.fork(ctx, a, loaded, o, r, state.Active, active)
	}
	around, err := s.arrange(state, active, a.Skill, o.Parent)
	if err != nil {
		return err
	}
	if around.repeated != nil {
		return s.repeat(ctx, a, loaded, o, r, *around.repeated, state)
	}
	if err := s.begin(ctx, a, loaded, o, r, around.kept); err != nil {
		return err
	}
	if err := s.expandText(ctx, a, loaded, o, append(slices.Clone(around.kept), active)); err != nil {
		return err
	}
	return s.storeActive(ctx, a, active, o.Parent)
}

// begin records an activation whose checks have passed, and runs the pre hook under the restrictions of the other
// skills.
func (s *Session) begin(ctx context.Context, a *Activation, l *catalog.Loaded, o Activate, r *audit.Record,
	others []Active,
) error {
	if err := s.recordIntent(r, a.Skill); err != nil {
		return err
	}
	if o.Begin != nil {
		o.Begin(a.Skill)
	}
	warnings, err := s.runPreHook(ctx, l, o.Arguments, others)
	a.Warnings = append(a.Warnings, warnings...)
	return err
}

// repeat returns the instructions of a skill that is active already. Nothing changes: no hook runs, and the tool lists
// at its activation still count.
func (s *Session) repeat(ctx context.Context, a *Activation, l *catalog.Loaded, o Activate, r *audit.Record,
	before Active, state State,
) error {
	if err := s.recordIntent(r, a.Skill); err != nil {
		return err
	}
	if note := before.Drift(); note != "" {
		a.Warnings = append(a.Warnings, note)
	}
	if o.Trigger == User && before.Trigger != User { // the model cannot end it any more
		if err := s.takeOver(ctx, before); err != nil {
			return err
		}
	}
	a.Repeated, a.Stack, r.Reason = true, state.Names(), "the skill was active already"
	return s.expandText(ctx, a, l, o, state.Active)
}

// takeOver makes an active skill one that the user has started.
func (s *Session) takeOver(ctx context.Context, a Active) error {
	return s.change(ctx, func(state *State) error {
		if i := state.indexOf(a.Real); i >= 0 {
			state.Active[i].Trigger = User
		}
		return nil
	})
}

// rollBack ends an activation that could not be recorded although a policy requires a record.
func (s *Session) rollBack(ctx context.Context, a *Activation, why string) error {
	err := diag.Errorf(diag.Denied,
		"%s; the policy requires an audit record, so skill %q is not active", why, a.Skill.Name)
	if s.id == "" || a.TaskID != "" || a.Repeated {
		return err
	}
	return errors.Join(err, s.change(ctx, func(state *State) error {
		state.Active = slices.DeleteFunc(state.Active, func(e Active) bool { return e.is(a.Skill) })
		return nil
	}))
}

// unenforced returns a warning about the restrictions that a skill asks for its own scripts, "" if it asks for none. It
// is for sessions without policies, which enforce none of them.
func unenforced(l *catalog.Loaded) string {
	e := l.Front.Execution
	var requests []string
	if e.Sandbox != "" && e.Sandbox != "false" {
		requests = append(requests, "execution.sandbox")
	}
	if len(e.AllowedPaths) > 0 {
		requests = append(requests, "execution.allowed-paths")
	}
	if len(e.Network) > 0 && !slices.Equal(e.Network, []string{"true"}) {
		requests = append(requests, "execution.network")
	}
	if len(requests) == 0 {
		return ""
	}
	return fmt.Sprintf("skill %q requests %s, which skillpm does not enforce: its scripts run with your permissions",
		l.Name,
		strings.Join(requests, ", "))
}

// checkTrigger checks whether the frontmatter lets the user or the model start the skill.
func checkTrigger(k *catalog.Skill, t Trigger) error {
	switch {
	case t != Model && t != User:
		return diag.Errorf(diag.Usage, "unknown trigger %q", t).WithHint("use user or model")
	case t == Model && !k.ModelInvocable, t == User && !k.UserInvocable:
		return &TriggerError{Skill: k.Name, Trigger: t}
	}
	return nil
}

// newActive returns the state that the session stores for a skill.
func (s *Session) newActive(l *catalog.Loaded, o Activate) (Active, error) {
	dir, err := pathx.ResolveExisting(l.Dir)
	if err != nil {
		return Active{}, diag.Errorf(diag.NotFound, "the directory of skill %q no longer exists: %w", l.Name, err)
	}
	may, err := tool.ParseList(l.Front.AllowedTools)
	if err != nil {
		return Active{}, diag.Errorf(diag.Invalid,
			"cannot activate skill %q: its allowed tools are invalid: %w", l.Name, err).
			WithHint("%s", diag.HintOf(err))
	}
	mayNot, err := tool.ParseList(l.Front.DisallowedTools)
	if err != nil {
		return Active{}, diag.Errorf(diag.Invalid,
			"cannot activate skill %q: its disallowed tools are invalid: %w", l.Name, err).
			WithHint("%s", diag.HintOf(err))
	}
	mayNotNow := s.expandPatterns(l, mayNot)
	for _, text := range mayNotNow {
		for name := range s.env.Profile.Substitution.Variables {
			if strings.Contains(text, "${"+name+"}") {
				return Active{},
					diag.Errorf(diag.Invalid,
						"cannot activate skill %q: it disallows %s, but the value of %s cannot be part of a pattern",
						l.Name, text, name).
						WithHint(
							"use a directory for %s whose path contains only letters, digits, slashes, hyphens, underscores, and dots", name)
			}
		}
	}
	return Active{
		Name: l.Name, Pack: l.Pack, Version: l.Version, Layer: l.Layer, Source: l.PackSource,
		Machine: l.Scope == catalog.ScopeMachine, Dir: l.Dir, Real: dir, Digest: l.Digest,
		Text:      digestOfText(l.Document),
		Arguments: o.Arguments, Trigger: o.Trigger, At: s.env.Now().UTC(), Restricts: l.Front.Restricts,
		Allowed: s.expandPatterns(l, may), Disallowed: mayNotNow, Post: l.Front.Post,
	}, nil
}

// expandPatterns returns tool patterns with the profile's variables inserted.
func (s *Session) expandPatterns(l *catalog.Loaded, patterns []tool.Pattern) (texts []string) {
	known, values := s.variableValues(l.Skill), map[string]string{}
	for name, value := range s.env.Profile.Substitution.Variables {
		values[name] = known[value]
	}
	for _, p := range patterns {
		texts = append(texts, p.Fill(values).String())
	}
	return texts
}

// expandText expands the instructions and collects warnings about them. The active skills include this one.
func (s *Session) expandText(ctx context.Context, a *Activation, l *catalog.Loaded, o Activate, active []Active) error {
	a.Tools = s.toolSet(active)
	rules := s.env.Profile.Substitution
	in := skill.ExpandInput{Arguments: o.Arguments, Names: l.Front.Arguments, Values: s.variableValues(l.Skill)}
	if rules.Shell && (s.env.Shell || o.Shell) {
		in.Shell = s.shell(ctx, a, l, a.Tools)
	}
	expansion := skill.Expand(l.Body, rules, in)
	if err := ctx.Err(); err != nil {
		return err
	}
	if expansion.Cut {
		a.Warnings = append(a.Warnings,
			fmt.Sprintf("skill %q inserts more than %d bytes: skillpm did not replace some placeholders", l.Name,
				skill.MaxInserted))
	}
	a.Warnings = append(a.Warnings, unrun(l.Name, expansion.Left, in.Shell != nil)...)
	a.Body = expansion.Text
	a.Source = l.Source[:len(l.Source)-len(l.Body)] + a.Body
	files, missing := s.files(l)
	a.Files, a.Command, a.Toolsets = files, l.Front.Command, l.Front.Toolsets
	a.Warnings = append(a.Warnings, missing...)
	if e := unenforced(l); e != "" && s.env.Guard == nil {
		a.Warnings = append(a.Warnings, e)
	}
	return nil
}

// Body returns the instructions of a skill with arguments inserted. It does not activate the skill, runs no hook and no
// command, and does not check who may start it. Policies still apply.
func (s *Session) Body(ctx context.Context, name, arguments string) (string, error) {
	k, err := s.lookup(ctx, name)
	if err != nil {
		return "", err
	}
	l, err := k.Load()
	if err != nil {
		return "", err
	}
	if _, err := s.decide(ctx, l, &audit.Record{}); err != nil {
		return "", err
	}
	return skill.ExpandBody(l.Body, s.env.Profile.Substitution,
		skill.ExpandInput{Arguments: arguments, Names: l.Front.Arguments, Values: s.variableValues(k)}), nil
}

// variableValues returns the values of the profile's variables.
func (s *Session) variableValues(k *catalog.Skill) map[string]string {
	v := map[string]string{"skill-dir": k.Dir}
	if s.id != "" {
		v["session-id"] = s.id
	}
	if project := s.project(); project != "" {
		v["project-dir"] = project
	}
	if k.Pack != "" {
		v["plugin-root"] = filepath.Dir(k.Dir)
	}
	return v
}

// project returns the project's root, or else the working directory.
func (s *Session) project() string {
	if s.env.Project != "" {
		return s.env.Project
	}
	return s.env.Dir
}

// storeActive stores a skill as active, and ends the skills before it. It arranges the skills again, because another
// process may have changed them.
func (s *Session) storeActive(ctx context.Context, a *Activation, active Active, parent string) error {
	if s.id == "" {
		a.Stack = []string{active.Name}
		if active.Post != "" {
			a.Warnings = append(a.Warnings,
				"the post hook of skill "+active.Name+" does not run without a session")
		}
		return nil
	}
	var around arrangement
	err := s.change(ctx, func(state *State) (err error) {
		if around, err = s.arrange(*state, active, a.Skill, parent); err != nil || around.repeated != nil {
			a.Repeated, a.Stack = around.repeated != nil, state.Names()
			return err
		}
		active.Parent = around.parent
		state.Active = append(slices.Clone(around.kept), active)
		a.Stack = state.Names()
		return nil
	})
	if err != nil {
		return err
	}
	ended, err := s.runPostHooks(ctx, around.ended, around.kept)
	if a.Ended = ended; err != nil { // the result of a post hook changes nothing
		a.Warnings = append(a.Warnings, err.Error())
	}
	return nil
}
