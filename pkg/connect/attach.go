package connect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/txn"
)

// State says how what an agent's configuration has relates to what it should have.
type State string

// The states of an entry.
const (
	Installed State = "installed"
	Missing   State = "not installed"
	Stale     State = "stale"   // it is there, for another program or with other events
	Foreign   State = "foreign" // something else has its name
	Broken    State = "broken"  // the file cannot be read
)

// Options say what is done to which agent.
type Options struct {
	Kind    Kind
	Agent   Agent
	Scope   Scope
	Program string // that the agent is to start, as an absolute path or a name; for Status "" for any
	DryRun  bool
	Force   bool // replace a server of our name that is not ours

	// FailClosed has the hooks that are asked about a call deny it if skillpm is not there or fails. Nil leaves it as
	// it is, which is so at first in the scope Enterprise.
	FailClosed *bool
	Args       []string // what the server is started with beyond what it needs; nil leaves it as it is
}

// Result is what was done to an agent's configuration, or how it is.
type Result struct {
	Agent   string   `json:"host"`
	Title   string   `json:"title"`
	Kind    Kind     `json:"kind"`
	Scope   Scope    `json:"scope"`
	File    string   `json:"file"`
	State   State    `json:"state"`
	Reason  string   `json:"reason,omitempty"`  // why it is stale, foreign or broken
	Program string   `json:"program,omitempty"` // that the agent starts
	Args    []string `json:"args,omitempty"`    // of the server, beyond what it needs
	Changed bool     `json:"changed"`
	DryRun  bool     `json:"dryRun,omitempty"`
	Diff    string   `json:"diff,omitempty"`  // of a dry run
	Notes   []string `json:"notes,omitempty"` // what is left to do in the agent

	FailClosed bool `json:"failClosed,omitempty"` // the hooks deny without skillpm
	// what keeps the agent from honouring it, as far as its files tell
	Obstacles []Obstacle `json:"obstacles,omitempty"`

	err error
}

// Obstacle is what keeps an agent from honouring what its configuration has.
type Obstacle struct {
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // what somebody does about it
}

// String returns both in one line.
func (o Obstacle) String() string {
	if o.Fix == "" {
		return o.Message
	}
	return o.Message + ": " + o.Fix
}

// Err returns why a file is broken, or nil.
func (r *Result) Err() error { return r.err }

// Status says how one agent's configuration is.
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
		r.Args, r.FailClosed = p.args, p.closed && o.Kind == Hook
		r.Obstacles = e.obstacles(p, values)
		if _, err := os.Stat(r.Program); filepath.IsAbs(r.Program) && errors.Is(err, fs.ErrNotExist) {
			again := fmt.Sprintf("skillpm %s install --host %s --scope %s", o.Kind, r.Agent, o.Scope)
			r.Obstacles = append(r.Obstacles,
				Obstacle{fmt.Sprintf("%s starts %s, which is not there", r.File, r.Program), again})
		}
		r.Notes = e.duplicateScopes(p)
	}
	return r, nil
}

// Install puts skillpm into an agent's configuration. Its errors are of code [diag.Invalid] for a file that cannot be
// edited, and [diag.Conflict] for one that something else is in the way of.
func Install(ctx context.Context, e Env, o Options) (*Result, error) { return change(ctx, e, o, true) }

// Remove takes skillpm out of an agent's configuration.
func Remove(ctx context.Context, e Env, o Options) (*Result, error) { return change(ctx, e, o, false) }

// prepare returns the plan for what was asked.
func prepare(e Env, o Options) (plan, *Result, error) {
	path, err := o.Agent.configFile(o.Kind, o.Scope)
	if err != nil {
		return plan{}, nil, err
	}
	p := plan{agent: o.Agent, kind: o.Kind, target: path, program: o.Program, goos: e.OS}
	return p, &Result{
		Agent: o.Agent.HookID(), Title: o.Agent.Title, Kind: o.Kind, Scope: o.Scope, File: e.file(path),
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
		if err := os.MkdirAll(e.State, 0o700); err != nil {
			return nil, err
		}
		unlock, err := txn.Lock(ctx, filepath.Join(e.State, "attach.lock"))
		if err != nil {
			return nil, err
		}
		defer func() { _ = unlock() }() // it ends with the process at the latest
	}
	c, err := e.read(p.target)
	if err != nil {
		return nil, err
	}
	edit := fileEdit{env: e, plan: p, now: c, all: e.records(), key: recordKey(o.Kind, c.real)}
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
		r.Program, r.Args, r.FailClosed = o.Program, p.args, p.closed && o.Kind == Hook
	}
	r.Changed = edit.changed()
	if install {
		if next := p.agent.next[p.kind]; next != "" && r.Changed && o.Scope == Project {
			r.Notes = append(r.Notes, next)
		}
		if d, err := open(p.target.format(), edit.after); err == nil {
			values, _ := d.values() // it was read before
			r.Obstacles = e.obstacles(p, values)
			r.Notes = append(r.Notes, e.duplicateScopes(p)...)
		}
	}
	if o.DryRun {
		r.Diff = edit.diff()
		return r, nil
	}
	return r, edit.write()
}
