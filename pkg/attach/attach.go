package attach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/textdiff"
	"github.com/skillpm/skillpm/pkg/txn"
	"github.com/skillpm/skillpm/pkg/whole"
)

// State says how what a host's configuration has relates to what it should have.
type State string

// The states of an entry.
const (
	Installed State = "installed"
	Missing   State = "not installed"
	Stale     State = "stale"   // it is there, for another program or with other events
	Foreign   State = "foreign" // something else has its name
	Broken    State = "broken"  // the file cannot be read
)

// Options say what is done to which host.
type Options struct {
	Kind    Kind
	Host    Host
	Scope   Scope
	Program string // that the host is to start, as an absolute path or a name; for Status "" for any
	DryRun  bool
	Force   bool // replace a server of our name that is not ours
}

// Result is what was done to a host's configuration, or how it is.
type Result struct {
	Host    string   `json:"host"`
	Title   string   `json:"title"`
	Kind    Kind     `json:"kind"`
	Scope   Scope    `json:"scope"`
	File    string   `json:"file"`
	State   State    `json:"state"`
	Reason  string   `json:"reason,omitempty"`  // why it is stale, foreign or broken
	Program string   `json:"program,omitempty"` // that the host starts
	Changed bool     `json:"changed"`
	DryRun  bool     `json:"dryRun,omitempty"`
	Diff    string   `json:"diff,omitempty"`  // of a dry run
	Notes   []string `json:"notes,omitempty"` // what is left to do in the host

	Obstacles []string `json:"obstacles,omitempty"` // what keeps the host from honouring it, as far as its files tell

	err error
}

// Err returns why a file is broken, or nil.
func (r *Result) Err() error { return r.err }

// Status says how one host's configuration is.
func Status(e Env, o Options) (*Result, error) {
	p, r, err := prepare(e, o)
	if err != nil {
		return nil, err
	}
	c, err := e.read(p.place)
	if c.absent {
		r.State = Missing
		return r, nil
	}
	var values map[string]any
	if err == nil {
		var d document
		if d, err = open(p.place.format(), c.data); err == nil {
			values, err = d.values()
		}
	}
	if err != nil {
		r.State, r.Reason, r.err = Broken, err.Error(), err
		return r, nil
	}
	r.Program = p.adopt(values)
	r.State, r.Reason = p.state(values)
	if r.State == Installed || r.State == Stale {
		r.Obstacles = e.obstacles(p, values)
		if _, err := os.Stat(r.Program); filepath.IsAbs(r.Program) && errors.Is(err, fs.ErrNotExist) {
			r.Obstacles = append(r.Obstacles, fmt.Sprintf("%s starts %s, which is not there", r.File, r.Program))
		}
	}
	return r, nil
}

// Install puts skillpm into a host's configuration. Its errors are of code [diag.Invalid] for a file that cannot be
// edited, and [diag.Conflict] for one that something else is in the way of.
func Install(ctx context.Context, e Env, o Options) (*Result, error) { return change(ctx, e, o, true) }

// Remove takes skillpm out of a host's configuration.
func Remove(ctx context.Context, e Env, o Options) (*Result, error) { return change(ctx, e, o, false) }

// prepare returns the plan for what was asked.
func prepare(e Env, o Options) (plan, *Result, error) {
	at, err := o.Host.place(o.Kind, o.Scope)
	if err != nil {
		return plan{}, nil, err
	}
	p := plan{host: o.Host, kind: o.Kind, place: at, program: o.Program, goos: e.OS}
	return p, &Result{Host: o.Host.ID, Title: o.Host.Title, Kind: o.Kind, Scope: o.Scope, File: e.file(at), DryRun: o.DryRun}, nil
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
	c, err := e.read(p.place)
	if err != nil {
		return nil, err
	}
	edit := edited{env: e, plan: p, now: c, all: e.records(), key: string(o.Kind) + " " + c.real}
	if install {
		err = edit.install(o.Force)
	} else {
		err = edit.remove()
	}
	if err != nil {
		return nil, err
	}
	r.State = map[bool]State{true: Installed, false: Missing}[install]
	if install {
		r.Program = o.Program
	}
	r.Changed = edit.changed()
	if install {
		if next := p.host.next[p.kind]; next != "" && r.Changed && o.Scope == Project {
			r.Notes = append(r.Notes, next)
		}
		if d, err := open(p.place.format(), edit.after); err == nil {
			values, _ := d.values() // it was read before
			r.Obstacles = e.obstacles(p, values)
		}
	}
	if o.DryRun {
		r.Diff = edit.diff()
		return r, nil
	}
	return r, edit.write()
}

// edited is a file that is being changed.
type edited struct {
	env  Env
	plan plan
	now  current
	all  records
	key  string

	after []byte
	gone  bool // the file is to go
	log   record
	keeps bool // log is to be kept
}

// install works out the file with what is wanted in it.
func (d *edited) install(force bool) error {
	doc, values, err := d.read(d.now.data)
	if err != nil {
		return err
	}
	state, why := d.plan.state(values)
	if state == Installed && d.now.exists {
		d.after, d.log, d.keeps = d.now.data, d.all.Files[d.key], true
		if d.log.Before == "" && !d.log.Created {
			d.keeps = false
		}
		return nil
	}
	if state == Foreign && !force {
		return diag.Errorf(diag.Conflict, "%s: %s", d.now.path, why).WithHint("remove it from that file, or replace it with --force")
	}
	old := d.all.Files[d.key]
	base, exact := old.original(d.now)
	if exact {
		if doc, values, err = d.read(base); err != nil {
			return err
		}
	} else {
		old.Created = old.Created || !d.now.exists
	}
	if err := d.plan.install(doc); err != nil {
		return d.byHand(err)
	}
	if err := d.verify(doc, values, true); err != nil {
		return err
	}
	d.after = doc.bytes()
	d.log = record{Created: old.Created, Dirs: old.Dirs}
	if exact || state == Missing { // else it was not made by this, and cannot be undone
		before := d.now.data
		if exact {
			before = base
		}
		d.log.Before, d.log.After, d.log.Splices = digest(before), digest(d.after), doc.splices()
	}
	d.keeps = d.log.Before != "" || d.log.Created
	return nil
}

// remove works out the file without what is ours.
func (d *edited) remove() error {
	d.after = d.now.data
	if !d.now.exists {
		d.gone = true
		return nil
	}
	doc, values, err := d.read(d.now.data)
	if err != nil {
		return err
	}
	state, why := d.plan.state(values)
	if state == Foreign {
		return diag.Errorf(diag.Conflict, "%s: %s", d.now.path, why).WithHint("remove it from that file yourself")
	}
	d.log = d.all.Files[d.key]
	if base, ok := d.log.original(d.now); ok {
		d.after, d.gone = base, d.log.Created && len(base) == 0
		return nil
	}
	if state == Missing {
		return nil
	}
	if err := d.plan.remove(doc); err != nil {
		return d.byHand(err)
	}
	if err := d.verify(doc, values, false); err != nil {
		return err
	}
	d.after = doc.bytes()
	d.gone = d.log.Created && doc.empty()
	if d.log.Created && !d.gone {
		d.pass(d.now.real, d.log)
	}
	return nil
}

// pass leaves it to what else install wrote into a file to remove it.
func (d *edited) pass(file string, log record) {
	for _, kind := range []Kind{Hook, MCP} {
		key := string(kind) + " " + file
		if other, ok := d.all.Files[key]; ok && key != d.key {
			other.Created, other.Dirs = true, log.Dirs
			d.all.Files[key] = other
		}
	}
}

func (d *edited) read(data []byte) (document, map[string]any, error) {
	doc, err := open(d.plan.place.format(), data)
	var values map[string]any
	if err == nil {
		values, err = doc.values()
	}
	if err != nil {
		return nil, nil, diag.Errorf(diag.Invalid, "%s is no valid %s: %v", d.now.path, d.plan.place.format(), err).
			WithHint("mend the file; nothing was changed in it")
	}
	return doc, values, nil
}

// byHand says that a file is valid, and written in a way that cannot be edited.
func (d *edited) byHand(err error) error {
	return diag.Errorf(diag.Invalid, "%s: %v", d.now.path, err).WithHint("edit the file yourself; nothing was changed in it")
}

// verify reads what was made, and compares its meaning with what was wanted: ours is there or not, and all else is as it
// was.
func (d *edited) verify(doc document, before map[string]any, install bool) error {
	_, values, err := d.read(doc.bytes())
	if err != nil {
		return d.byHand(errors.New("it cannot be edited in place"))
	}
	state, why := d.plan.state(values)
	if install != (state == Installed) || !install && state != Missing {
		return d.byHand(fmt.Errorf("it cannot be edited in place: %s %s", state, why))
	}
	if !same(d.plan.others(before), d.plan.others(values)) {
		return d.byHand(errors.New("it cannot be edited without a change to something else in it"))
	}
	return nil
}

func (d *edited) changed() bool {
	return d.gone == d.now.exists || !d.gone && string(d.after) != string(d.now.data)
}

func (d *edited) diff() string {
	after := d.after
	if d.gone {
		after = nil
	}
	return textdiff.Unified(filepath.ToSlash(d.now.path), filepath.ToSlash(d.now.path), d.now.data, after)
}

// write puts the file in its place, and keeps what was done.
func (d *edited) write() error {
	if d.changed() {
		if err := d.put(); err != nil {
			return err
		}
	}
	before, had := d.all.Files[d.key]
	if d.keeps {
		d.all.Files[d.key] = d.log
	} else {
		delete(d.all.Files, d.key)
	}
	if had == d.keeps && (!had || before.After == d.log.After && before.Before == d.log.Before) {
		return nil
	}
	return d.env.keep(d.all)
}

func (d *edited) put() error {
	if d.gone {
		if err := os.Remove(d.now.real); err != nil {
			return err
		}
		d.tidy()
		return nil
	}
	o := whole.Options{Mode: d.now.mode, Sync: true}
	if !d.now.exists {
		o.Mode, o.MkdirMode = 0o644, 0o755
		if d.plan.place.scope == User || d.plan.place.scope == Local {
			o.Mode = 0o600
		}
		d.log.Dirs = missingDirs(filepath.Dir(d.now.real))
	}
	err := whole.Write(d.now.real, d.after, o)
	if errors.Is(err, fs.ErrPermission) {
		return diag.Errorf(diag.Denied, "%s cannot be written: %v", d.now.path, err).WithHint("its owner can: sudo skillpm for what the administrator keeps")
	}
	return err
}

// tidy removes the directories that were made for the file. One that holds another file which install wrote is that one's
// to remove.
func (d *edited) tidy() {
	for _, dir := range d.log.Dirs {
		if os.Remove(dir) == nil {
			continue
		}
		for key, other := range d.all.Files {
			if _, file, _ := strings.Cut(key, " "); key != d.key && filepath.Dir(file) == dir && other.Created {
				other.Dirs = d.log.Dirs
				d.all.Files[key] = other
			}
		}
		return
	}
}

// missingDirs returns a directory and those above it that do not exist, the deepest first.
func missingDirs(dir string) []string {
	var dirs []string
	for {
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			return slices.Clip(dirs)
		}
		dirs = append(dirs, dir)
		dir = filepath.Dir(dir)
	}
}
