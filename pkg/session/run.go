package session

import (
	"context"
	"io"
	"maps"
	"time"

	"github.com/skillpm/skillpm/pkg/audit"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/run"
)

// RunOptions say what of a skill is run, and how.
type RunOptions struct {
	Script string // a file of the skill; "" for the command of its frontmatter
	Args   []string
	Stdin  io.Reader
	Limit  time.Duration // 0 for the settings'
	Env    map[string]string

	MaxOutput int64 // how many bytes of each output are kept; 0 for that of package run

	Stdout, Stderr io.Writer // get the output as it comes, besides the result; may be nil
}

// Run runs a script of a skill, or the command of its frontmatter. An exit code other than 0 is no error. Every run is
// recorded, with the digest of what it printed; that it could not be is an error, beside the result.
func (s *Session) Run(ctx context.Context, name string, o RunOptions) (*run.Result, error) {
	k, err := s.lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	r := audit.Record{Action: audit.Run, Result: audit.OK, Script: o.Script}
	l, err := k.Load()
	if err != nil {
		return nil, err
	}
	r.Digest = l.Digest
	extra := maps.Clone(o.Env)
	var argv []string
	switch {
	case o.Script != "":
		argv, err = run.Script(k.Dir, o.Script, o.Args)
	case l.Front.Command != "":
		var line run.Line
		line, err = run.Shell(k.Dir, k.Name, l.Front.Command, l.Front.Arguments, o.Args)
		argv = line.Argv
		if extra = line.Env; extra != nil {
			maps.Copy(extra, o.Env)
		}
	default:
		err = noCommand(k.Name, k.Dir)
	}
	var res *run.Result
	if err == nil {
		limit := o.Limit
		if limit == 0 {
			limit = s.env.ScriptLimit
		}
		r.Command = argv
		res, err = run.Run(ctx, run.Command{
			Argv: argv, Dir: s.work(k.Dir), Env: s.environment(k, k.Dir, extra), Stdin: o.Stdin, Limit: limit,
			MaxOutput: o.MaxOutput, Stdout: o.Stdout, Stderr: o.Stderr,
		})
	}
	if res != nil {
		ran(&r, res)
	}
	switch {
	case err != nil:
		r.Result, r.Reason = result(err), err.Error()
		if r.Result == audit.OK {
			r.Result = audit.Failed
		}
	case res.TimedOut:
		r.Result = audit.Timeout
	case res.ExitCode != 0:
		r.Result = audit.Failed
	}
	if unrecorded := s.record(r, k); len(unrecorded) > 0 && err == nil {
		err = diag.Errorf(diag.Internal, "it ran, and is not on record: %s", unrecorded[0]).WithHint("make %s writable for you", s.env.Audit.Path())
	}
	return res, err
}

// noCommand says that a skill runs nothing by itself.
func noCommand(name, dir string) error {
	err := diag.Errorf(diag.Invalid, "skill %q has no command: it is instructions to follow", name)
	if scripts, _ := run.Scripts(dir); len(scripts) > 0 {
		return err.WithHint("run one of its scripts: skillpm run %s --script %s", Quote(name), Quote(scripts[0]))
	}
	return err.WithHint("skillpm load %s prints them", Quote(name))
}
