package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Options configure [Execute].
type Options struct {
	Trigger   session.Trigger  // the caller; "" for the model
	Limit     time.Duration    // of a command; 0 for the settings' limit, which also is the maximum
	OutputDir string           // absolute directory for long output; "" for DefaultOutputDir in the project
	Language  Language         // of the reply; "" for that of the line
	Strict    bool             // nobody can answer: missing parameters are an error instead of pending
	Now       func() time.Time // required

	Begin func(*catalog.Skill) // called once the skill may run; may be nil
}

// execution is the state of one dispatch.
type execution struct {
	host    *runtime.Host
	o       Options
	say     texts
	began   time.Time
	request Request
	model   string
	dir     string // of the skill
}

// Execute runs a line and returns the reply. It returns an error only if the context ends.
func Execute(ctx context.Context, h *runtime.Host, line string, o Options) (*Reply, error) {
	if o.Language == "" {
		o.Language = languageOf(line)
	}
	e := &execution{host: h, o: o, say: o.Language.texts(), began: o.Now()}
	r := e.line(ctx, line)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.Meta = Meta{Agent: Agent, Time: max(0, o.Now().Sub(e.began)), TS: o.Now(), Model: e.model}
	return r, nil
}

// line parses and checks the line before anything runs.
func (e *execution) line(ctx context.Context, line string) *Reply {
	var err error
	e.request, err = Parse(line)
	e.model = e.request.Model
	if err != nil {
		return e.unreadable(err)
	}
	skill, err := e.lookup(ctx)
	if err != nil {
		return e.unknown(ctx, err)
	}
	for _, other := range e.request.Others {
		if _, err := e.host.Lookup(ctx, other); err == nil {
			return e.unreadable(newLineError(severalSteps))
		}
	}
	e.dir = skill.Dir
	loaded, err := skill.Load()
	if err != nil {
		return e.damaged(skill.Exact(), err.Error())
	}
	if line := guessedLine(loaded.Document); line > 0 {
		return e.damaged(skill.Exact(), fmt.Sprintf("%s:%d: the frontmatter is not valid YAML", skill.Path(), line))
	}
	if e.model == "" {
		e.model = loaded.Front.Model
	}
	p := declared(loaded.Front.Arguments, skill.ArgumentHint)
	args, missing := p.Bind(e.request.Args)
	if len(missing) > 0 {
		return e.missing(missing, p)
	}
	e.request.Args = args
	if loaded.Front.Command == "" {
		return e.prompt(ctx, skill)
	}
	return e.command(ctx, skill)
}

// lookup returns the skill that the line names: the first word after the @ or, if that is not a skill, as many words as
// make the longest name of one.
func (e *execution) lookup(ctx context.Context) (*catalog.Skill, error) {
	found, err := e.host.Lookup(ctx, e.request.Skill)
	if err == nil {
		return found, nil
	}
	for name, n := range e.request.names {
		found, longer := e.host.Lookup(ctx, name)
		unknown, ok := errors.AsType[*catalog.UnknownError](longer)
		if longer != nil && (!ok || unknown.Reason == "") {
			continue
		}
		e.request.Skill, e.request.Args = name, e.request.Args[n:]
		return found, longer
	}
	return nil, err
}

// id returns the protocol's id of a skill: its name or, if that is a title, the name of its directory.
func id(k *catalog.Skill) string {
	if k.Pack == "" && !skill.LegalName(k.Name) {
		return filepath.Base(k.Dir)
	}
	return k.Name
}

// guessedLine returns the line of a frontmatter field that is not valid YAML and was read as plain text, 0 for none.
func guessedLine(doc *skill.Document) int {
	for _, v := range yamlx.Pairs(doc.Front) {
		if doc.Recovered(v) {
			return v.Line
		}
	}
	return 0
}

// unreadable returns the reply to an invalid line. The protocol's closest types: ParamMissing for a missing skill,
// otherwise RuntimeFailed, which leaves open what the caller should do.
func (e *execution) unreadable(err error) *Reply {
	le, ok := errors.AsType[*lineError](err)
	if !ok {
		return e.failed(err)
	}
	reason, advice := le.in(e.o.Language)
	if le.problem == noSkillNamed {
		r := e.fail(paramMissing, fmt.Sprintf(e.say.param, "skill"), reason, advice)
		r.Code = diag.Usage
		return r
	}
	r := e.fail(runtimeFailed, fmt.Sprintf(e.say.runtime, reason), reason, advice)
	r.Code = diag.Usage
	return r
}

// unknown returns the reply for a skill that is not available: it is not installed, its SKILL.md is invalid, or a
// policy denies it.
func (e *execution) unknown(ctx context.Context, err error) *Reply {
	unknown, ok := errors.AsType[*catalog.UnknownError](err)
	if !ok {
		return e.failed(err)
	}
	if unknown.Denied {
		return e.failed(err) // another installation would not help
	}
	name := e.request.Skill
	if c, err := e.host.Catalog(ctx); err == nil {
		if claims := c.Which(name); len(claims.Skipped) > 0 && len(claims.Excluded) == 0 {
			return e.damaged(name, claims.Skipped[0].Reason)
		}
		if dir := c.Bare(name); dir != "" {
			return e.damaged(name, dir+" does not contain a SKILL.md")
		}
	}
	advice := fmt.Sprintf(e.say.install, "skillpm search "+skill.QuoteArgument(name))
	if _, pack, exact := strings.Cut(name, "@"); exact {
		advice = fmt.Sprintf(e.say.install, "skillpm install "+skill.QuoteArgument(pack))
	}
	switch {
	case unknown.Off || unknown.Reason != "":
		advice = e.hint(unknown)
	case unknown.Near != "":
		advice = fmt.Sprintf(e.say.near, unknown.Near) + advice
	}
	r := e.fail(skillNotFound, fmt.Sprintf(e.say.notFound, name), unknown.Error(), advice)
	r.Code = diag.NotFound
	return r
}

// damaged returns the reply for a skill that cannot be read.
func (e *execution) damaged(name, why string) *Reply {
	install := e.say.restore
	if _, pack, exact := strings.Cut(name, "@"); exact {
		install = "skillpm install " + skill.QuoteArgument(pack)
	}
	r := e.fail(metadataMissing, e.say.metadata, why, fmt.Sprintf(e.say.reinstall, install))
	r.Code = diag.Invalid
	return r
}

// missing returns the reply for missing parameters: pending if somebody can answer.
func (e *execution) missing(names []string, p parameters) *Reply {
	list := strings.Join(names, ", ")
	if e.o.Strict {
		msg := "required parameter " + quotedList(names) + " not provided"
		r := e.fail(paramMissing, fmt.Sprintf(e.say.param, list), msg, e.say.ask)
		r.Code = diag.Usage
		return r
	}
	optional := p.Optional
	if optional == nil {
		optional = []string{}
	}
	return &Reply{
		State: Pending, Summary: fmt.Sprintf(e.say.pending, list), Code: diag.Usage, Advice: e.say.ask,
		Data: Data{{"required", names}, {"optional", optional}},
	}
}

func quotedList(names []string) string { return "'" + strings.Join(names, "', '") + "'" }

// fail makes the reply of an error.
func (e *execution) fail(t errorType, summary, msg, advice string) *Reply {
	return &Reply{
		State: Failed, Summary: string(t) + ": " + textx.TruncateRunes(summary, 300),
		Advice: advice, Code: diag.Internal,
		Data: Data{{"type", t}, {"msg", msg}, {"recoverable", t.Recoverable()}},
	}
}

// failed returns the reply for an error of skillpm before execution: a hook, the trigger matrix, a cycle.
func (e *execution) failed(err error) *Reply {
	r := e.fail(runtimeFailed, fmt.Sprintf(e.say.runtime, err), err.Error(), cmp.Or(e.hint(err), e.say.decide))
	r.Code = diag.CodeOf(err)
	return r
}

// hint returns an error's hint as advice. Hints are English, so the Chinese advice quotes them.
func (e *execution) hint(err error) string {
	hint := diag.ModelHintOf(err)
	switch {
	case hint == "":
		return e.say.decide
	case e.o.Language == Chinese:
		return fmt.Sprintf("%s (%s)", e.say.decide, hint)
	}
	return hint
}

// prompt returns the instructions of a skill without a command, or the task that has them.
func (e *execution) prompt(ctx context.Context, k *catalog.Skill) *Reply {
	a, err := e.host.Load(ctx, e.request.Skill,
		session.Activate{Arguments: skill.JoinArguments(e.request.Args), Trigger: e.o.Trigger, Begin: e.o.Begin})
	if err != nil {
		return e.failed(err)
	}
	name := cmp.Or(k.Declared, k.Name)
	if a.TaskID != "" {
		return &Reply{
			State: Success, Summary: fmt.Sprintf(e.say.submitted, id(k)),
			Data:   Data{{"skill", id(k)}, {"type", "task"}, {"task", a.TaskID}, {"executable", false}},
			Advice: fmt.Sprintf(e.say.wait, "skillpm task wait "+a.TaskID),
		}
	}
	return &Reply{
		State: Success, Summary: fmt.Sprintf(e.say.prompt, id(k)),
		Data: Data{
			{"skill", id(k)},
			{"type", "prompt"},
			{"name", name},
			{"description", k.Description},
			{"content", a.Source},
			{"executable", false},
		},
	}
}

// maxOutput limits the output of a command, in bytes. Longer output is truncated in the middle.
const maxOutput = 16 << 20

// command runs a skill that has a command.
func (e *execution) command(ctx context.Context, skill *catalog.Skill) *Reply {
	limit := e.host.Config().Skills.ScriptLimit
	if limit <= 0 {
		limit = session.DefaultScriptLimit
	}
	if e.o.Limit > 0 {
		limit = min(limit, e.o.Limit)
	}
	o := session.RunOptions{
		Args: e.request.Args, Trigger: e.o.Trigger, Limit: limit, MaxOutput: maxOutput,
		Begin: e.o.Begin,
	}
	if e.model != "" {
		o.Env = map[string]string{"SKILLPM_MODEL": e.model}
	}
	res, err := e.host.Run(ctx, e.request.Skill, o)
	switch {
	case err != nil:
		return e.failed(err)
	case res.TimedOut:
		return &Reply{
			State: Timeout, Summary: string(timedOut) + ": " + fmt.Sprintf(e.say.timeout, seconds(limit)),
			Advice: e.say.split, Code: diag.Internal,
			Data: Data{
				{"skill", id(skill)},
				{"elapsed", json.Number(seconds(res.Duration))},
				{"limit", json.Number(seconds(limit))},
			},
		}
	case res.ExitCode != 0:
		text := fragment(res)
		msg := fmt.Sprintf("exit code %d", res.ExitCode)
		if res.Signal != "" {
			msg = "ended by " + res.Signal
		}
		if text == "" {
			text = msg
		} else {
			msg += ": " + text
		}
		return e.fail(runtimeFailed, fmt.Sprintf(e.say.runtime, text), msg, e.say.decide)
	}
	return e.succeeded(id(skill), res)
}

// fragment returns the end of a command's standard error or, if that is empty, of its standard output.
func fragment(res *session.RunResult) string {
	const most = 200
	for _, out := range [][]byte{res.Stderr, res.Stdout} {
		text := []rune(textx.OneLine(string(out)))
		if len(text) > most {
			return "…" + string(text[len(text)-most+1:])
		}
		if len(text) > 0 {
			return string(text)
		}
	}
	return ""
}
