package connect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// State compares the entries of an agent's configuration with those that it should have.
type State string

// The states of an entry.
const (
	Installed State = "installed"
	Missing   State = "not installed"
	Stale     State = "stale"   // it is present, for another program or with other events
	Foreign   State = "foreign" // another program's entry has its name
	Broken    State = "broken"  // the file cannot be read
)

// Options select the agent and the change.
type Options struct {
	Kind    Kind
	Agent   Agent
	Scope   Scope
	Program string // for the agent to start, as an absolute path or a name; for Status, "" accepts any
	DryRun  bool
	Force   bool // replace another program's server of the same name

	// FailClosed makes the hooks before a tool call deny the call if skillpm is missing or fails. Nil keeps the
	// current setting; the default is true in the scope Enterprise and false elsewhere.
	FailClosed *bool
	Args       []string // additional arguments of the server; nil keeps the current ones
}

// Result is the outcome of a change, or the state of a configuration.
type Result struct {
	Agent   string   `json:"agent"`
	Title   string   `json:"title"`
	Kind    Kind     `json:"kind"`
	Scope   Scope    `json:"scope"`
	File    string   `json:"file"`
	State   State    `json:"state"`
	Reason  string   `json:"reason,omitempty"`  // why the state is Stale, Foreign, or Broken
	Program string   `json:"program,omitempty"` // that the agent starts
	Args    []string `json:"args,omitempty"`    // additional arguments of the server
	Changed bool     `json:"changed"`
	Deleted bool     `json:"deleted,omitempty"` // the file, which connect created, is removed
	DryRun  bool     `json:"dryRun,omitempty"`
	Diff    string   `json:"diff,omitempty"`  // of a dry run
	Notes   []string `json:"notes,omitempty"` // what the user has to do in the agent

	FailClosed bool `json:"failClosed,omitempty"` // the hooks deny calls if skillpm is missing or fails
	// why the agent would ignore the entries, as far as its files show
	Obstacles []Obstacle `json:"obstacles,omitempty"`

	err error
}

// Obstacle is a reason why an agent ignores the entries in its configuration.
type Obstacle struct {
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // what the user can do about it
}

// String returns both in one line.
func (o Obstacle) String() string {
	if o.Fix == "" {
		return o.Message
	}
	return o.Message + ": " + o.Fix
}

// Err returns the reason of the state Broken, or nil.
func (r *Result) Err() error { return r.err }

// Status returns the state of one agent's configuration.
func Status(e Env, o Options) (*Result, error) {
	p, r, err := prepare(e, o)
	if err != nil {
		return nil, err
	}
	c, err := e.read(p.target)
	if c.absent {
		r.State = Missing
		return r, nil
	}
	var values map[string]any
	if err == nil {
		var d document
		if d, err = open(p.target.format(), c.data); err == nil {
			values, err = d.values()
		}
	}
	if err != nil {
		r.State, r.Reason, r.err = Broken, err.Error(), err
		return r, nil
	}
	p.installedProgram = e.records().Files[recordKey(o.Kind, c.real)].Program
	r.Program = p.adopt(values)
	p.keepChoices(values, o)
	r.State, r.Reason = p.state(values)
	if r.State == Installed || r.State == Stale {
		r.Args, r.FailClosed = p.args, p.failsClosed()
		r.Obstacles = append(e.syntaxObstacles(p, c.data), e.obstacles(p, values)...)
		if _, err := os.Stat(r.Program); filepath.IsAbs(r.Program) && errors.Is(err, fs.ErrNotExist) {
			again := fmt.Sprintf("run \"skillpm connect %s --scope %s\"", r.Agent, o.Scope)
			r.Obstacles = append(r.Obstacles,
				Obstacle{fmt.Sprintf("%s starts %s, which does not exist", r.File, r.Program), again})
		}
		r.Notes = e.duplicateScopes(p)
		r.addProbe(e, p)
	}
	return r, nil
}

// Install adds skillpm to an agent's configuration. The error has code [diag.Invalid] if the file cannot be edited, and
// [diag.Conflict] if another program's entry has the name.
func Install(ctx context.Context, e Env, o Options) (*Result, error) { return change(ctx, e, o, true) }

// Remove removes skillpm from an agent's configuration.
func Remove(ctx context.Context, e Env, o Options) (*Result, error) { return change(ctx, e, o, false) }

// prepare returns the plan for a change.
func prepare(e Env, o Options) (plan, *Result, error) {
	path, err := o.Agent.configFile(o.Kind, o.Scope)
	if err != nil {
		return plan{}, nil, err
	}
	p := plan{agent: o.Agent, kind: o.Kind, target: path, program: o.Program, goos: e.OS}
	return p, &Result{
		Agent: o.Agent.ID, Title: o.Agent.Title, Kind: o.Kind, Scope: o.Scope, File: e.file(path),
		DryRun: o.DryRun,
	}, nil
}

// change edits a file under the lock.
func change(ctx context.Context, e Env, o Options, install bool) (*Result, error) {
	p, r, err := prepare(e, o)
	if err != nil {
		return nil, err
	}
	if !o.DryRun {
		unlock, err := e.lock(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { _ = unlock() }() // the lock ends with the process at the latest
	}
	c, err := e.read(p.target)
	if err != nil {
		return nil, err
	}
	edit := fileEdit{env: e, plan: p, now: c, all: e.records(), key: recordKey(o.Kind, c.real)}
	e.followMove(edit.all, o.Kind, c)
	edit.plan.installedProgram = edit.all.Files[edit.key].Program
	if install {
		err = edit.install(o)
	} else {
		err = edit.remove()
	}
	if err != nil {
		return nil, err
	}
	r.State = map[bool]State{true: Installed, false: Missing}[install]
	if install {
		p = edit.plan
		r.Program, r.Args, r.FailClosed = o.Program, p.args, p.failsClosed()
	}
	r.Changed = edit.changed()
	r.Deleted = r.Changed && edit.deleted
	if install {
		if next := p.agent.next[p.kind]; next != "" && r.Changed && o.Scope == Project {
			r.Notes = append(r.Notes, next)
		}
		if d, err := open(p.target.format(), edit.after); err == nil {
			values, _ := d.values() // it was read before
			r.Obstacles = append(e.syntaxObstacles(p, edit.after), e.obstacles(p, values)...)
			r.Notes = append(r.Notes, e.duplicateScopes(p)...)
			if note := p.projectChoices(values); note != "" && o.Args == nil {
				r.Notes = append(r.Notes, note)
			}
		}
	}
	if o.DryRun {
		r.Diff = edit.diff()
		return r, nil
	}
	if err := edit.write(); err != nil {
		return nil, err
	}
	if install {
		r.addProbe(e, p)
	}
	return r, nil
}

// addProbe adds what the agent itself reports about a file, if skillpm does not know already that the agent ignores it.
func (r *Result) addProbe(e Env, p plan) {
	if len(e.syntaxObstacles(p, e.content(p.target))) == 0 {
		r.Obstacles = append(r.Obstacles, e.probe(p)...)
	}
}
