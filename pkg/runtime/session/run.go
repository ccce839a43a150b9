package session

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// RunResult is the outcome of a script: its exit code and its output.
type RunResult = run.Result

// DefaultScriptLimit is the time limit of a script if the settings have none.
const DefaultScriptLimit = run.DefaultLimit

// Scripts returns the sorted paths of the files in a skill's directory that can be run.
func Scripts(dir string) ([]string, error) { return run.Scripts(dir) }

// RunOptions are the options of [Session.Run].
type RunOptions struct {
	Script  string // path of a file of the skill; "" for the command of its frontmatter
	Args    []string
	Trigger Trigger // who asks; "" for Model
	Stdin   io.Reader
	Limit   time.Duration // 0 for the limit of the settings
	Env     map[string]string

	MaxOutput int64 // maximum bytes of each output in the result; 0 for the default of package run

	Stdout, Stderr io.Writer // also get the output as it is printed; may be nil

	Begin func(*catalog.Skill) // called after all checks, before the command starts; may be nil
	Warn  func(string)         // gets each note for the user; may be nil
}

// Run runs a script of a skill, or the command of its frontmatter. An exit code other than 0 is not an error. The audit
// log gets every run and every denial, with the digest of the output. If it cannot be written, Run returns both the
// result and an error.
//
// A script runs in the working directory. The command runs in the skill's directory, and arguments that are paths of
// files in the working directory become absolute.
//
// The frontmatter must let the trigger start the skill, unless Run only runs a script of a skill that is active in the
// session. The tool restrictions of other active skills apply to the command.
func (s *Session) Run(ctx context.Context, name string, o RunOptions) (*run.Result, error) {
	if o.Trigger == "" {
		o.Trigger = Model
	}
	r := audit.Record{Action: audit.Run, Result: audit.OK, Script: o.Script, Trigger: string(o.Trigger)}
	k, err := s.lookup(ctx, name)
	var res *run.Result
	if err == nil {
		res, err = s.run(ctx, k, o, &r)
	} else {
		r.Skill = name
	}
	if err != nil {
		r.Result, r.Reason = result(err), err.Error()
	}
	unrecorded := s.record(r, k)
	switch {
	case len(unrecorded) == 0:
	case err != nil:
		err = &unrecordedError{err, unrecorded[0]}
	default:
		err = diag.Errorf(diag.Internal, "the script ran, but skillpm cannot record the run: %s", unrecorded[0]).
			WithHint("grant yourself write access to %s", s.env.Audit.Path())
	}
	return res, err
}

// run does the work of Run and completes the audit record.
func (s *Session) run(ctx context.Context, k *catalog.Skill, o RunOptions, r *audit.Record) (*run.Result, error) {
	l, err := k.Load()
	if err != nil {
		return nil, err
	}
	r.Digest = l.Digest
	warn := func(notes []string) {
		for _, n := range notes {
			if o.Warn != nil {
				o.Warn(n)
			}
		}
	}
	notes, err := s.decide(ctx, l, r)
	warn(notes)
	if err != nil {
		return nil, err
	}
	if unmet := unenforced(l); unmet != "" && s.env.Guard == nil {
		warn([]string{unmet})
	}
	argv, extra, err := s.commandOf(l, o)
	if err != nil {
		return nil, err
	}
	r.Command = argv
	line := argv
	if o.Script != "" {
		line = scriptLine(l.Dir, o.Script, o.Args)
	}
	if err := s.checkRun(k, o, line); err != nil {
		return nil, err
	}
	if err := s.checkNesting(k.Exact(), false); err != nil {
		return nil, err
	}
	limit := o.Limit
	if limit == 0 {
		limit = s.env.ScriptLimit
	}
	c := run.Command{
		Argv: argv, Dir: s.workDir(k.Dir), Env: s.environment(run.Scripted, k, k.Dir, extra),
		Stdin: o.Stdin, Limit: limit, MaxOutput: o.MaxOutput, Stdout: o.Stdout, Stderr: o.Stderr,
	}
	notes, err = s.confine(ctx, l, &c)
	warn(notes)
	if err != nil {
		return nil, err
	}
	if o.Script == "" {
		c.Dir = k.Dir // the rules are those of the working directory
	}
	if o.Begin != nil {
		o.Begin(k)
	}
	res, notes, err := s.launch(ctx, k, c, r)
	warn(notes)
	return res, err
}

// commandOf returns the command line, and the environment variables that other scripts do not get.
func (s *Session) commandOf(l *catalog.Loaded, o RunOptions) (argv []string, extra map[string]string, err error) {
	if o.Script != "" {
		argv, err = run.Script(run.Environment(s.env.Getenv, o.Env), l.Dir, o.Script, o.Args)
		return argv, maps.Clone(o.Env), err
	}
	if l.Front.Command == "" {
		return nil, nil, noCommand(l.Name, l.Dir)
	}
	args := run.CallerPaths(s.workDir(l.Dir), o.Args)
	line, err := run.Shell(l.Dir, l.Name, l.Front.Command, l.Front.Arguments, args)
	extra = map[string]string{}
	maps.Copy(extra, line.Env)
	maps.Copy(extra, o.Env)
	return line.Argv, extra, err
}

// checkRun checks a run against the skill's frontmatter and against the restrictions of other active skills.
func (s *Session) checkRun(k *catalog.Skill, o RunOptions, argv []string) error {
	state, err := s.State()
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(state.Active), func(a Active) bool { return a.is(k) })
	active := len(others) < len(state.Active)
	if !active && (o.Script == "" || s.id != "") {
		if err := checkTrigger(k, o.Trigger); err != nil {
			return err
		}
	}
	v := s.toolSet(others).Allow(s.withDirectories(tool.Call{Tool: "Bash", Input: map[string]any{"command": argv}}))
	if v.Allowed {
		return nil
	}
	return diag.Errorf(diag.Denied, "skill %q may not run scripts now: %s", k.Name, v.Reason).
		WithHint("end skill %s when its work is done", v.Skill)
}

// is reports whether an active skill is the skill k.
func (a Active) is(k *catalog.Skill) bool { return a.Dir == k.Dir || a.Exact() == k.Exact() }

// noCommand returns the error that a skill has no command.
func noCommand(name, dir string) error {
	err := diag.Errorf(diag.Invalid, "skill %q does not have a command: its instructions are for an agent", name)
	if scripts, _ := run.Scripts(dir); len(scripts) > 0 {
		return err.WithHint("run one of its scripts: skillpm run %s --script %s", skill.QuoteArgument(name),
			skill.QuoteArgument(scripts[0]))
	}
	return err.WithHint("print the instructions with: skillpm load %s", skill.QuoteArgument(name))
}
