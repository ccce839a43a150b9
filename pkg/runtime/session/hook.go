package session

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// HookError reports that a pre or post hook of a skill failed.
type HookError struct {
	Skill, Kind, Script string // Kind is "pre" or "post"
	ExitCode            int
	Limit               time.Duration // the limit that it exceeded, 0 if it ended in time
	Stderr              string        // the end of its standard error
	Err                 error         // why it could not be started, nil if it was
	Denied              bool          // the tool restrictions of another active skill forbid it
	Loaded              bool          // the model already has the instructions
}

// Error names the skill, the script, and what came of it.
func (e *HookError) Error() string {
	what := fmt.Sprintf("the %s hook %s of skill %q", e.Kind, e.Script, e.Skill)
	effect := ", so skillpm did not activate the skill"
	switch {
	case e.Kind == "post":
		effect = "; skillpm still deactivated the skill"
	case e.Loaded:
		effect = ", so no tool is allowed until the skill ends"
	}
	switch {
	case e.Err != nil:
		return fmt.Sprintf("cannot run %s%s: %v", what, effect, e.Err)
	case e.Limit > 0:
		return fmt.Sprintf("%s did not end within %s%s", what, e.Limit, effect)
	case e.Stderr == "":
		return fmt.Sprintf("%s exited with code %d%s", what, e.ExitCode, effect)
	}
	return fmt.Sprintf("%s exited with code %d%s: %s", what, e.ExitCode, effect, e.Stderr)
}

// Unwrap returns why the script could not be started.
func (e *HookError) Unwrap() error { return e.Err }

// Code is Denied if another skill's restrictions forbid the hook, and else Internal: the script failed, not skillpm.
func (e *HookError) Code() diag.Code {
	if e.Denied {
		return diag.Denied
	}
	return diag.Internal
}

// Hint suggests a command that shows why the hook fails.
func (e *HookError) Hint() string {
	if e.Err != nil && diag.HintOf(e.Err) != "" {
		return diag.HintOf(e.Err)
	}
	if e.Err != nil {
		return fmt.Sprintf("fix hooks.%s in SKILL.md: the value must name a script inside the skill", e.Kind)
	}
	return fmt.Sprintf("to see why, run: skillpm run %s --script %s", skill.QuoteArgument(e.Skill),
		skill.QuoteArgument(e.Script))
}

// ModelHint does not name a command: the model must not run the hook itself.
func (e *HookError) ModelHint() (string, bool) {
	if e.Loaded {
		return "do not follow the instructions of the skill", true
	}
	return "continue without the skill, or ask the user", true
}

// runPreHook runs the pre hook of a skill under the restrictions of other skills.
func (s *Session) runPreHook(ctx context.Context, l *catalog.Loaded, arguments string, others []Active,
) (warnings []string, err error) {
	if l.Front.Pre == "" {
		return nil, nil
	}
	return s.hook(ctx, hook{
		kind: "pre", script: l.Front.Pre, skill: l.Skill, dir: l.Dir, arguments: arguments, digest: l.Digest, loaded: l,
		others: others,
	})
}

// hook is a pre or post hook to run.
type hook struct {
	kind, script   string
	skill          *catalog.Skill
	dir, arguments string
	digest         string
	loaded         *catalog.Loaded // nil if it must be read again
	others         []Active        // whose tool restrictions apply to the hook
	after          bool            // the model already has the instructions
}

// maxVariable is the longest argument text, in bytes, that a hook gets: systems reject longer environment variables.
const maxVariable = 100 << 10

// variables returns the environment variables that only hooks get.
func (h hook) variables() map[string]string {
	v := map[string]string{"SKILLPM_HOOK": h.kind}
	if len(h.arguments) <= maxVariable {
		v["SKILL_ARGUMENTS"] = h.arguments
	}
	return v
}

// hook runs a hook: a script inside the skill's directory, with a time limit and a clean environment.
func (s *Session) hook(ctx context.Context, h hook) (warnings []string, err error) {
	r := audit.Record{Action: audit.Hook, Result: audit.OK, Hook: h.kind, Script: h.script, Digest: h.digest}
	fail := &HookError{Skill: h.skill.Name, Kind: h.kind, Script: h.script, Loaded: h.after}
	env := s.environment(run.Hook, h.skill, h.dir, h.variables())
	argv, err := run.Script(env, h.dir, h.script, nil)
	var l *catalog.Loaded
	if err == nil {
		l, err = s.reloadSkill(ctx, h, &r)
	}
	var res *run.Result
	if err == nil {
		err = s.checkHook(h)
		fail.Denied = err != nil
	}
	if err == nil {
		r.Command = argv
		var notes []string
		res, notes, err = s.start(ctx, h.skill, l, run.Command{
			Argv: argv, Dir: s.workDir(h.dir), Limit: s.env.ScriptLimit, MaxOutput: maxHookOutput, Env: env,
		}, &r)
		if h.kind == "pre" { // after a skill nothing can show the notes, but the audit log has them
			warnings = append(warnings, notes...)
		}
	}
	switch {
	case err != nil:
		fail.Err = err
	case res.TimedOut:
		if fail.Limit = s.env.ScriptLimit; fail.Limit == 0 {
			fail.Limit = run.DefaultLimit
		}
	case res.ExitCode != 0:
		fail.ExitCode, fail.Stderr = res.ExitCode, fragment(res.Stderr)
	default:
		return append(warnings, s.record(r, h.skill)...), nil
	}
	if r.Reason = reason(fail); r.Result == audit.OK {
		r.Result = audit.Failed
	}
	return append(warnings, s.record(r, h.skill)...), fail
}

// reloadSkill returns the skill of a hook as its files are now. It checks the policies again: a post hook does not run
// if they now deny the skill.
func (s *Session) reloadSkill(ctx context.Context, h hook, r *audit.Record) (*catalog.Loaded, error) {
	if h.loaded != nil || s.env.Guard == nil {
		return h.loaded, nil
	}
	k := *h.skill
	k.Dir = h.dir
	l, err := k.Load()
	if err == nil {
		_, err = s.decide(ctx, l, r)
	}
	return l, err
}

// maxHookOutput limits how many bytes of a hook's output are kept; only errors show them.
const maxHookOutput = 64 << 10

// recordOutcome records how a command ended, with the digest and the size of its output.
func recordOutcome(r *audit.Record, res *run.Result) {
	switch {
	case res.TimedOut:
		r.Result = audit.Timeout
	case res.ExitCode != 0:
		r.Result = audit.Failed
	}
	code := res.ExitCode
	r.ExitCode, r.DurationMS = &code, res.Duration.Milliseconds()
	r.Output, r.OutputBytes = audit.Digest([]byte(res.StdoutSum+"\n"+res.StderrSum+"\n")), res.StdoutSize+res.StderrSize
	r.Stdout, r.Stderr = string(res.Stdout), string(res.Stderr) // the log drops them unless it keeps outputs
}

// workDir returns the directory in which a skill's commands run.
func (s *Session) workDir(dir string) string {
	for _, d := range []string{s.env.Dir, s.env.Project} {
		if d != "" {
			return d
		}
	}
	return dir
}

// environment returns the environment of a skill's commands. The kind is one of those of package run.
func (s *Session) environment(kind string, k *catalog.Skill, dir string, extra map[string]string) []string {
	all := run.Variables(k.Name, dir)
	all["SKILL_WORK_DIR"] = s.workDir(dir)
	all[run.ChainName] = run.Extend(s.env.Getenv(run.ChainName), run.Link{Kind: kind, Skill: k.Exact()})
	if s.id != "" {
		all["SKILLPM_SESSION"], all["CLAUDE_SESSION_ID"] = s.id, s.id
	}
	for name, value := range map[string]string{
		"CLAUDE_PROJECT_DIR": "project-dir",
		"CLAUDE_PLUGIN_ROOT": "plugin-root",
	} {
		if v := s.variableValues(k)[value]; v != "" {
			all[name] = v
		}
	}
	maps.Copy(all, extra)
	return run.Environment(s.env.Getenv, all)
}

// fragment returns the end of a command's output, on one line.
func fragment(text []byte) string {
	const most = 300
	s := textx.OneLine(string(text))
	if r := []rune(s); len(r) > most {
		s = "…" + string(r[len(r)-most:])
	}
	return s
}
