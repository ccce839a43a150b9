package skillpm

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// InstallOptions says what to install and how.
type InstallOptions struct {
	Packs    []string // places, as source.Parse reads them; none means what manifest and lock say
	Registry string   // look names up here only, for this call
	Frozen   bool     // change neither manifest nor lock; fail where they disagree
	Offline  bool     // use no network
	DryRun   bool     // write nothing
	Force    bool     // replace installed skills that were edited; copies of them are kept
	Keep     bool     // leave packs as they are that have edited skills which would be replaced
	Upgrade  bool     // choose all versions anew, within the ranges
	Skills   []string // of the packs named, install these skills only
	As       string   // name for the one skill that is installed
	Agents   []string // link for these agents, and remember it
	LinkMode string   // project.LinkSymlink, LinkCopy or LinkHard, and remember it; "" for what was chosen before
	Scope    string   // scope.KindProject or scope.KindUser; "" means the project
	Signing  Signing

	held    []pack.ID // packs that stay at their locked version
	removes bool      // the verb removes packs
	unlinks bool      // the verb ends that a pack is linked
	moves   bool      // the verb moves packs, and leaves the others as they are
	goesOn  bool      // where nobody can be asked about a pack, it stays
}

// check refuses combinations that make no sense.
func (o InstallOptions) check() error {
	switch {
	case o.Frozen && len(o.Packs) > 0:
		return diag.Errorf(diag.Usage, "--frozen installs what skillpm.lock says and takes no packs")
	case o.Frozen && len(o.Agents) > 0:
		return diag.Errorf(diag.Usage, "--frozen changes nothing and takes no --agent")
	case o.Frozen && o.Upgrade:
		return diag.Errorf(diag.Usage, "--frozen installs what skillpm.lock says: it can't --upgrade")
	case o.Keep && o.Force:
		return diag.Errorf(diag.Usage, "--keep and --force exclude each other")
	case o.Frozen && o.LinkMode != "":
		return diag.Errorf(diag.Usage, "--frozen changes nothing and takes no --link-mode")
	case o.LinkMode != "" && pack.CheckLinkMode(o.LinkMode) != nil:
		return pack.CheckLinkMode(o.LinkMode)
	case o.As != "" && len(o.Packs) != 1:
		return diag.Errorf(diag.Usage, "--as names the skill of one pack: give exactly one pack")
	case len(o.Skills) > 0 && len(o.Packs) != 1:
		return diag.Errorf(diag.Usage, "--skill chooses from one pack: give exactly one pack")
	}
	return nil
}

// attempts is how often a verb starts over because another process changed the scope meanwhile.
const attempts = 5

// Install installs packs: those named, or what the manifest and the lock say. It returns what it did, or with DryRun
// would do.
func (c *Client) Install(ctx context.Context, o InstallOptions) (*InstallReport, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return c.retry(func() (*InstallReport, error) {
		return keeping(o, func(o InstallOptions) (*InstallReport, error) { return c.install(ctx, o) })
	})
}

// retry starts a verb over when another process got in between, and once when the store turned out to be damaged.
func (c *Client) retry(verb func() (*InstallReport, error)) (*InstallReport, error) {
	defer c.Progress(Event{Done: true})
	healed := false
	for left := attempts; left > 0; left-- {
		report, err := verb()
		switch {
		case errors.Is(err, workspace.ErrDamaged) && !healed:
			healed = true
		case errors.Is(err, workspace.ErrGone) && left > 1:
		case !errors.Is(err, workspace.ErrChanged):
			return report, c.refused(err)
		}
	}
	return nil, diag.Errorf(diag.Conflict, "another process keeps changing skillpm.yaml or skillpm.lock").
		WithHint("wait for it to finish and try again")
}

func (c *Client) install(ctx context.Context, o InstallOptions) (*InstallReport, error) {
	w, err := c.open(ctx, o, len(o.Packs) > 0)
	if err != nil {
		return nil, err
	}
	if o.Frozen && w.LacksLock() {
		return nil, diag.Errorf(diag.NotFound, "--frozen needs a skillpm.lock and %s has none", w.Scope.Root).
			WithHint("run skillpm install once and commit skillpm.lock")
	}
	t, err := w.resolve(ctx, o)
	if err != nil {
		return nil, err
	}
	return w.install(ctx, o, t)
}

// work is a scope that a verb works on, and what packs can be had for it.
type work struct {
	*workspace.Workspace
	client *Client
	*base.Services
}

// open opens a scope for a verb that changes it. An interrupted transaction is finished or undone first.
func (c *Client) open(ctx context.Context, o InstallOptions, create bool) (*work, error) {
	w, err := c.Machine.OpenToChange(o.Scope, create)
	if err != nil {
		return nil, err
	}
	if err := c.Machine.NewEnough(w.Manifest); err != nil {
		return nil, err
	}
	if err := w.Recover(ctx); err != nil {
		return nil, err
	}
	return c.work(ctx, w, o)
}

// work gives a scope its services.
func (c *Client) work(ctx context.Context, w *workspace.Workspace, o InstallOptions) (*work, error) {
	signing, err := o.Signing.admission(c.Machine)
	if err != nil {
		return nil, err
	}
	s, err := c.Services(ctx, w, base.ServiceOptions{
		Registry: o.Registry, Frozen: o.Frozen, Offline: o.Offline, Signing: signing,
	})
	if err != nil {
		return nil, err
	}
	for _, id := range o.held {
		s.Backend.Hold(id)
	}
	return &work{Workspace: w, client: c, Services: s}, nil
}

// target is what a verb leads to: a manifest and a lock.
type target struct {
	*solve.Solution
	manifest  *pack.Manifest
	asked     []pack.ID // packs that the call names
	unreached []pack.ID // packs that stay because nobody could be asked about them
}

// goal returns the target as a workspace takes it.
func (t *target) goal() workspace.Goal {
	return workspace.Goal{Manifest: t.manifest, Lock: t.Lock, Places: t.Places}
}

// frozenLinks refuses linked packs where exactly what is locked was asked for.
func frozenLinks(o InstallOptions, l *workspace.Layout) error {
	for id, p := range l.Linked {
		if o.Frozen {
			return diag.Errorf(diag.Conflict, "%s is linked to %s, which is not what skillpm.lock says", id, p.Dir).
				WithHint("skillpm unlink %s", id)
		}
	}
	return nil
}

// install brings the scope to its target.
func (w *work) install(ctx context.Context, o InstallOptions, t *target) (*InstallReport, error) {
	dirs, warnings, err := w.AgentDirs(o.Agents)
	if err != nil {
		return nil, err
	}
	l, err := w.NewLayout(t.manifest, t.Lock, dirs)
	if err != nil {
		return nil, err
	}
	t.Lock.Names = l.Names
	if err := frozenLinks(o, l); err != nil {
		return nil, err
	}
	c, err := w.compare(ctx, l, o)
	if err != nil {
		return nil, err
	}
	admitted, err := w.admit(ctx, t, l, c, o.removes || o.unlinks)
	if err != nil {
		return nil, err
	}
	if o.Frozen {
		err = w.CheckFrozen(t.goal())
	} else {
		w.StageDocuments(c, t.goal())
	}
	if err != nil {
		return nil, err
	}
	report := w.report(t, l, c, o.DryRun)
	report.Warnings = append(report.Warnings, slices.Concat(t.Warnings, warnings, l.Warnings, w.editWarnings(o, c))...)
	report.Edited, report.Saved = append(report.Edited, c.Edited...), c.Saved()
	report.Changed, report.DryRun, report.RecordedIn = !c.Empty(), o.DryRun, c.Recorded()
	report.Recorded = len(report.RecordedIn) > 0
	told, idle := len(t.Warnings), o.DryRun || c.Empty() && !c.Restated() && !w.Relinked()
	if !idle {
		if err := w.FetchMissing(ctx, t.manifest, t.Solution, maps.Values(c.Place)); err != nil {
			return nil, err
		}
	}
	notes, err := w.admitFiles(ctx, admitted, l)
	if report.Warnings = append(append(report.Warnings, t.Warnings[told:]...), notes...); err != nil {
		return nil, err
	}
	if idle {
		return report, nil
	}
	err = w.recorded(report, t.Lock.Encode(), func() error { return w.Apply(ctx, c, l, t.goal(), o.compareOptions()) })
	if onlyNoted := c.Empty() && !errors.Is(err, workspace.ErrChanged) && ctx.Err() == nil; err != nil && !onlyNoted {
		return nil, err // to have noted what is right would only have saved time
	}
	return report, nil
}

// recorded applies a change that is described by a report, and records it, one pack a record.
func (w *work) recorded(r *InstallReport, lock []byte, apply func() error) error {
	door := w.Guard(w.client.Around)
	var records []audit.Record
	for _, p := range r.Packs {
		action := actionOf(p.Action)
		if action == "" {
			continue
		}
		rec := audit.Record{
			Action: action, Pack: p.Pack, Version: p.Version, Source: p.Source, Tree: p.Integrity, Signer: p.SignedBy,
			Policy: enforce.Digest(door.Policies()), Lock: audit.Digest(lock), Project: projectOf(w.Scope),
		}
		if p.Resolved != "" {
			rec.Source += "@" + p.Resolved
		}
		if p.Linked != "" {
			rec.Dir = p.Linked
		}
		if p.Previous != "" {
			rec.Reason = "in place of " + p.Previous
		}
		records = append(records, rec)
	}
	return w.client.Recorded(w.client.Log(door), records, apply)
}

// actionOf returns what a record calls what happens to a pack, "" for nothing.
func actionOf(action string) string {
	switch action {
	case ActionInstalled, ActionRestored, ActionLinked:
		return audit.Install
	case ActionUpdated, ActionRenamed:
		return audit.Update
	case ActionRemoved:
		return audit.Remove
	}
	return ""
}

// projectOf returns the directory of a project, "" for the user's scope.
func projectOf(s scope.Scope) string {
	if s.Kind == scope.KindUser {
		return ""
	}
	return s.Root
}

// noted records what policies that only observe would have refused.
func (w *work) noted(notes []string) {
	if len(notes) == 0 {
		return
	}
	log := w.client.Log(w.Guard(w.client.Around))
	for _, note := range notes {
		// it is said as a warning, too
		_ = log.Write(audit.Record{
			Action: audit.Policy, Result: audit.OK, Verdict: audit.WouldDeny, Reason: note, Project: projectOf(w.Scope),
		})
	}
}

// refused records what was refused, and returns the error.
func (c *Client) refused(err error) error {
	if diag.CodeOf(err) != diag.Denied {
		return err
	}
	project := cmp.Or(c.Around, c.around())
	r := audit.Record{
		Action: audit.Install, Result: audit.Denied, Verdict: audit.Forbidden, Reason: err.Error(), Project: project,
	}
	_ = c.Log(c.Machine.Guard(project)).Write(r) // nothing was done, and the error is told
	return err
}

// RemoveOptions says which packs to remove.
type RemoveOptions struct {
	Packs  []string // owner/name
	Scope  string   // scope.KindProject or scope.KindUser; "" means the project
	DryRun bool     // write nothing
	Force  bool     // remove installed skills that were edited
}

// Remove takes packs out of the manifest and removes what nothing needs any more: their skills, copies and links, and
// the packs that only they required.
func (c *Client) Remove(ctx context.Context, o RemoveOptions) (*InstallReport, error) {
	return c.retry(func() (*InstallReport, error) { return c.remove(ctx, o) })
}

func (c *Client) remove(ctx context.Context, o RemoveOptions) (*InstallReport, error) {
	io := InstallOptions{Scope: o.Scope, DryRun: o.DryRun, Force: o.Force, removes: true}
	w, err := c.open(ctx, io, false)
	if err != nil {
		return nil, err
	}
	m := w.Manifest.Clone()
	for _, name := range o.Packs {
		id, err := pack.ParseID(name)
		if err != nil {
			return nil, err
		}
		found, err := m.RemoveDependency(id)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, w.notRequired(id)
		}
		if _, err := m.RemoveAliasesOf(id); err != nil {
			return nil, err
		}
	}
	t := &target{manifest: m}
	if t.Solution, err = w.Backend.Lock(ctx, m); err != nil {
		return nil, err
	}
	for _, a := range slices.Clone(m.Aliases) {
		if _, stays := t.Lock.Packs[a.Pack]; !stays {
			if _, err := m.RemoveAliasesOf(a.Pack); err != nil {
				return nil, err
			}
		}
	}
	return w.install(ctx, io, t)
}

// notRequired explains why a pack can't be removed.
func (w *work) notRequired(id pack.ID) error {
	err := diag.Errorf(diag.NotFound, "skillpm.yaml does not require %s", id)
	if _, ok := w.Lock.Packs[id]; ok {
		for by, p := range w.Lock.Packs {
			if _, ok := p.Dependencies[id.String()]; ok {
				return err.WithHint("it is installed because %s requires it", by)
			}
		}
	}
	var have []string
	for _, d := range w.Manifest.Dependencies {
		have = append(have, d.ID.String())
	}
	if near := diag.Nearest(id.String(), have); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("skillpm list shows what is installed")
}
