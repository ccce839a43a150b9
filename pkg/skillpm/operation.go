package skillpm

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// ChangeOptions are the options of every operation that changes what a scope has installed.
type ChangeOptions struct {
	Scope    string // scope.KindProject or scope.KindUser; "" means the project
	Registry string // look names up in this registry only
	Offline  bool   // use no network
	DryRun   bool   // write nothing
	Force    bool   // replace or remove installed skills with local edits; copies of them are kept
	Keep     bool   // leave packs as they are whose locally edited skills would be replaced
	Signing  Signing

	// AcceptChanged are packs whose locked version may have other content than before: owner/name.
	AcceptChanged []string

	// Accept asks the user about updates that add capabilities and that a policy does not allow without consent. nil
	// refuses them.
	Accept func([]Increase) bool

	reference *pack.Lock // another lock whose versions must not have other content here, nil for none
}

// command is what an operation does with packs.
type command int

const (
	commandInstall command = iota
	commandUpdate          // moves some packs, and leaves the others as they are
	commandRemove
	commandUnlink
)

// scopeFiles are the files that errors name if another process keeps changing a scope.
const scopeFiles = "skillpm.yaml or skillpm.lock"

// request is one operation on a scope.
type request struct {
	ChangeOptions
	command command
	create  bool // make the directory a project if there is none
	frozen  bool // change neither manifest nor lockfile
	// resolveLock merges the sides of a lockfile with merge conflicts.
	resolveLock bool
	// merge replaces the manifest and the lockfile that were read. Only what this lockfile has is installed.
	merge  func(context.Context, *workspace.Workspace) error
	agents workspace.AgentChoice
	unlink []string // ids of agents that skills are no longer linked for

	// skipUnreachable leaves packs as they are whose registry or source can't be reached.
	skipUnreachable bool
	edited          []pack.ID // packs that stay at their locked version because of local edits
}

// resolution is the manifest and the lockfile that an operation leads to.
type resolution struct {
	*solve.Solution
	manifest    *pack.Manifest
	requested   []pack.ID          // packs that the call names
	updated     []pack.ID          // packs that an update may move
	exact       map[pack.ID]string // versions that the call names
	latest      bool               // the update ignored the ranges of the manifest
	unreachable []pack.ID          // packs that stay because their registry or source can't be reached
}

// lockedResolution is the resolution of a scope whose manifest and lockfile stay as they are.
func lockedResolution(w *workspace.Workspace) *resolution {
	return &resolution{manifest: w.Manifest.Clone(), Solution: &solve.Solution{
		Lock: w.Lock.Clone(), Packs: map[pack.ID]*pack.Pack{}, Directories: w.Directories(),
	}}
}

// documents returns the resolution in the form in which a workspace applies it.
func (r *resolution) documents() workspace.Documents {
	return workspace.Documents{Manifest: r.manifest, Lock: r.Lock, Directories: r.Directories}
}

// installer carries out a request in one scope.
type installer struct {
	*workspace.Workspace
	*base.Services
	client   *Client
	request  request
	accepted []Increase // updates that the user accepted in this operation
}

// change runs an operation: resolve computes the manifest and the lockfile that it leads to, and the installer brings
// the scope there. It starts over if another process changed the scope, and, with Keep, if skills with local edits are
// in the way: their packs then stay at their locked versions.
func (c *Client) change(
	ctx context.Context, r request, resolve func(*installer) (*resolution, error),
) (*InstallReport, error) {
	defer c.Progress(Event{Done: true})
	if r.Keep && r.Force {
		return nil, diag.Errorf(diag.Usage, "--keep cannot be used with --force")
	}
	report, err := workspace.Retry(scopeFiles, func() (*InstallReport, error) {
		r := r
		for {
			report, err := c.tryChange(ctx, r, resolve)
			edited, ok := errors.AsType[*EditedError](err)
			if !ok || !r.Keep {
				return report, err
			}
			known := len(r.edited)
			for _, id := range edited.Packs() {
				if !slices.Contains(r.edited, id) {
					r.edited = append(slices.Clip(r.edited), id)
				}
			}
			if len(r.edited) == known {
				return report, err
			}
		}
	})
	return report, c.recordRefusal(err)
}

func (c *Client) tryChange(
	ctx context.Context, r request, resolve func(*installer) (*resolution, error),
) (*InstallReport, error) {
	in, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	res, err := resolve(in)
	if err != nil || res == nil {
		return nil, err
	}
	report, err := in.install(ctx, res)
	if diag.CodeOf(err) == diag.Conflict {
		err = in.Confirm(ctx, err)
	}
	if err == nil && r.command == commandUpdate {
		report.HeldBack = in.heldBack(ctx, res)
	}
	return report, err
}

// open opens the scope of a request for a change. An interrupted transaction is finished or undone first.
func (c *Client) open(ctx context.Context, r request) (*installer, error) {
	var merge workspace.MergeLock
	if r.resolveLock {
		merge = func(file string, data []byte, m *pack.Manifest) (*pack.Lock, error) {
			return mergeConflict(ctx, file, data, m)
		}
	}
	w, err := c.Machine.OpenForChange(r.Scope, r.create, merge)
	if err != nil {
		return nil, err
	}
	if err := c.Machine.CheckVersion(w.Manifest); err != nil {
		return nil, err
	}
	if err := w.Recover(ctx); err != nil {
		return nil, err
	}
	if r.merge != nil {
		if err := r.merge(ctx, w); err != nil {
			return nil, err
		}
	}
	return c.installer(ctx, w, r)
}

// installer returns the installer of a scope that is open.
func (c *Client) installer(ctx context.Context, w *workspace.Workspace, r request) (*installer, error) {
	signing, err := r.Signing.admission(c.Machine)
	if err != nil {
		return nil, err
	}
	s, err := c.Services(ctx, w, base.ServiceOptions{
		Registry: r.Registry, Frozen: r.frozen || r.merge != nil, Offline: r.Offline, Signing: signing,
		Reference: r.reference,
	})
	if err != nil {
		return nil, err
	}
	for _, id := range r.edited {
		s.Backend.Hold(id)
	}
	for _, name := range r.AcceptChanged {
		id, err := pack.ParseID(name)
		if err != nil {
			return nil, err
		}
		if w.Lock.Packs[id] == nil {
			return nil, diag.Errorf(diag.NotFound,
				"cannot use --accept-changed %s: skillpm.lock does not contain the pack", id)
		}
		s.Backend.AcceptChange(id)
	}
	return &installer{Workspace: w, Services: s, client: c, request: r}, nil
}

// plan is how the scope gets to a resolution.
type plan struct {
	layout     *workspace.Layout
	change     *workspace.Change
	candidates admission.Candidates
	warnings   []string
}

// plan compares what a resolution leads to with the disk, and asks the policies. Nothing is fetched for it.
func (in *installer) plan(ctx context.Context, res *resolution) (*plan, error) {
	agents := in.request.agents
	if len(agents.Only) > 0 && len(res.manifest.Agents) > 0 {
		agents.Only = res.manifest.Agents // --agent adds to those that the manifest has
	}
	dirs, warnings, err := in.AgentDirs(agents)
	if err != nil {
		return nil, err
	}
	p := &plan{warnings: warnings}
	if p.layout, err = in.NewLayout(res.manifest, res.Lock, dirs); err != nil {
		return nil, err
	}
	res.Lock.Names = p.layout.Names
	if err := in.checkFrozenLinks(p.layout); err != nil {
		return nil, err
	}
	if p.change, err = in.compare(ctx, p.layout); err != nil {
		return nil, err
	}
	if err := in.checkAdvisories(ctx, res, p); err != nil {
		return nil, err
	}
	if err := in.admit(ctx, res, p); err != nil {
		return nil, err
	}
	if in.request.frozen {
		return p, in.CheckFrozen(res.documents())
	}
	in.StageDocuments(p.change, res.documents())
	return p, nil
}

// checkFrozenLinks refuses linked packs in a frozen installation, which installs exactly what is locked.
func (in *installer) checkFrozenLinks(l *workspace.Layout) error {
	for id, p := range l.Linked {
		if in.request.frozen {
			return diag.Errorf(diag.Conflict,
				"%s is linked to %s, but --frozen installs only the packs in skillpm.lock", id, p.Dir).
				WithHint("remove the link with: skillpm link %s --undo", id)
		}
	}
	return nil
}

// install brings the scope to a resolution: it plans, fetches, checks the fetched files against the policies, and
// applies the plan in one transaction.
func (in *installer) install(ctx context.Context, res *resolution) (*InstallReport, error) {
	p, err := in.plan(ctx, res)
	if err != nil {
		return nil, err
	}
	report := in.report(res, p)
	known := len(res.Warnings)
	upToDate := p.change.Empty() && !p.change.UpdatesState() && !in.LinksChanged()
	if !upToDate && !in.request.DryRun {
		if err := in.FetchMissing(ctx, res.manifest, res.Solution, maps.Values(p.change.Trees)); err != nil {
			return nil, err
		}
	}
	if report.Increases, err = in.increases(ctx, res, p); err != nil {
		return nil, err
	}
	notes, err := in.admitFiles(ctx, p.candidates, p.layout)
	report.Warnings = append(append(report.Warnings, res.Warnings[known:]...), notes...)
	if err != nil {
		in.unlinkUnapproved(ctx)
		return nil, err
	}
	notes, err = in.admitIncreases(ctx, res, report.Increases)
	if report.Warnings = append(report.Warnings, notes...); err != nil {
		return nil, err
	}
	if upToDate {
		return report, in.recordVerified(res, p)
	}
	if err := in.addCapabilities(ctx, report, res, p); err != nil || in.request.DryRun {
		return report, err
	}
	err = in.recordChange(report, res.Lock.Encode(), func() error {
		return in.Apply(ctx, p.change, p.layout, res.documents(), in.compareOptions())
	})
	if err != nil && p.change.Empty() && !errors.Is(err, workspace.ErrChanged) && ctx.Err() == nil {
		err = nil // only fingerprints could not be saved, which save time
	}
	if err != nil {
		return nil, err
	}
	in.addMissing(report, res, p.change)
	return report, in.recordVerified(res, p)
}

// recordVerified records which packs this machine has verified. Only policies need that.
func (in *installer) recordVerified(res *resolution, p *plan) error {
	if in.request.DryRun {
		return nil
	}
	err := in.Admission.RecordVerified(res.Lock, p.layout.Linked)
	if err != nil && !in.Admission.HasPolicies() {
		return nil
	}
	return err
}

// unlinkUnapproved removes the links to installed skills that agents must not see any more, if the policies deny an
// operation. The operation itself changes nothing.
func (in *installer) unlinkUnapproved(ctx context.Context) {
	if in.request.DryRun {
		return
	}
	removed, _, err := in.RemoveDenied(ctx)
	switch {
	case err != nil:
		in.client.Warn("agents may still find denied skills, because their links could not be removed: " + err.Error())
	case len(removed) > 0:
		in.client.Warn("removed the links to denied skills: " + textx.FirstAndMore(removed, 5))
	}
}

// addMissing adds to changed packs and their skills, and to the scope, what they require and this machine lacks.
func (in *installer) addMissing(r *InstallReport, res *resolution, applied *workspace.Change) {
	r.Missing = in.Unmet(res.manifest.Requires)
	for i, p := range r.Packs {
		id, err := pack.ParseID(p.Pack)
		if err != nil || p.Action == ActionUnchanged || p.Action == ActionRemoved {
			continue
		}
		if locked := res.Lock.Packs[id]; locked != nil {
			r.Packs[i].Missing = in.Unmet(skill.ParseRequirements(locked.Needs))
		}
		for j, s := range p.Skills {
			if s.Denied == "" {
				p.Skills[j].Missing = in.Missing(id, s.Name, applied)
			}
		}
	}
}
