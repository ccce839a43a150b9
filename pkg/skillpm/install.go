package skillpm

import (
	"bytes"
	"context"
	"errors"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/scope"
	"github.com/skillpm/skillpm/pkg/source"
)

// InstallOptions says what to install and how.
type InstallOptions struct {
	Packs    []string // places, as source.Parse reads them; none means what manifest and lock say
	Registry string   // look names up here only, for this call
	Frozen   bool     // change neither manifest nor lock; fail where they disagree
	Offline  bool     // use no network
	DryRun   bool     // write nothing
	Force    bool     // replace installed skills that were edited
	Skills   []string // of the packs named, install these skills only
	As       string   // name for the one skill that is installed
	Agents   []string // link for these agents, and remember it
	Scope    string   // scope.KindProject or scope.KindUser; "" means the project
}

// check refuses combinations that make no sense.
func (o InstallOptions) check() error {
	switch {
	case o.Frozen && len(o.Packs) > 0:
		return diag.Errorf(diag.Usage, "--frozen installs what skillpm.lock says and takes no packs")
	case o.Frozen && len(o.Agents) > 0:
		return diag.Errorf(diag.Usage, "--frozen changes nothing and takes no --agent")
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
	return c.retry(func() (*InstallReport, error) { return c.install(ctx, o) })
}

// retry starts a verb over when another process got in between, and once when the store turned out to be damaged.
func (c *Client) retry(verb func() (*InstallReport, error)) (*InstallReport, error) {
	defer c.Progress(Event{Done: true})
	healed := false
	for range attempts {
		report, err := verb()
		switch {
		case errors.Is(err, errDamaged) && !healed:
			healed = true
		case !errors.Is(err, errChanged):
			return report, err
		}
	}
	return nil, diag.Errorf(diag.Conflict, "another process keeps changing skillpm.yaml or skillpm.lock").
		WithHint("wait for it to finish and try again")
}

func (c *Client) install(ctx context.Context, o InstallOptions) (*InstallReport, error) {
	w, err := c.openWorkspace(o.Scope, len(o.Packs) > 0)
	if err != nil {
		return nil, err
	}
	if err := c.newEnough(w.manifest); err != nil {
		return nil, err
	}
	if err := w.recover(ctx); err != nil {
		return nil, err
	}
	if o.Frozen && w.lockBytes == nil {
		return nil, diag.Errorf(diag.NotFound, "--frozen needs a skillpm.lock and %s has none", w.scope.Root).
			WithHint("run skillpm install once and commit skillpm.lock")
	}
	before := w.lock.Clone()
	next, err := w.resolve(ctx, o)
	if err != nil {
		return nil, err
	}
	return w.install(ctx, o, before, next)
}

// target is what an install leads to: a manifest and a lock.
type target struct {
	manifest *project.Manifest
	lock     *project.Lock
	packs    map[source.ID]*source.Pack // those that were opened on the way
	places   map[string]string          // directories that the lock leaves out, by pack
	warnings []string
}

// install brings the scope to its target.
func (w *workspace) install(ctx context.Context, o InstallOptions, before *project.Lock, t *target) (*InstallReport, error) {
	dirs, warnings, err := w.agentDirs(o.Agents)
	if err != nil {
		return nil, err
	}
	l, err := w.newLayout(t.manifest, t.lock, dirs)
	if err != nil {
		return nil, err
	}
	t.lock.Names = l.names
	options := compareOptions{hash: o.Frozen || o.Force, force: o.Force}
	c, err := w.compare(l, options)
	if err != nil {
		return nil, err
	}
	if err := w.stageDocuments(c, o, t); err != nil {
		return nil, err
	}
	report := w.report(before, t, l, c)
	report.Warnings = append(append(report.Warnings, t.warnings...), warnings...)
	report.Changed, report.DryRun, report.Recorded = !c.empty(), o.DryRun, len(c.files) > 0
	if o.DryRun || c.empty() && !c.restate {
		return report, nil
	}
	if err := w.fetchMissing(ctx, o, t, c); err != nil {
		return nil, err
	}
	if err := w.apply(ctx, c, l, t, options); err != nil {
		return nil, err
	}
	return report, nil
}

// stageDocuments adds manifest and lock to the change if they differ; with Frozen that is an error.
func (w *workspace) stageDocuments(c *change, o InstallOptions, t *target) error {
	manifest, lock := t.manifest.Bytes(), t.lock.Encode()
	if o.Frozen {
		if !bytes.Equal(lock, w.lockBytes) {
			return diag.Errorf(diag.Conflict, "skillpm.lock does not agree with skillpm.yaml").
				WithHint("run skillpm install without --frozen, look at the difference and commit it")
		}
		return nil
	}
	if w.manifestBytes != nil || len(t.manifest.Dependencies) > 0 || w.scope.Kind == scope.KindProject {
		c.stageFile(w.rel(w.scope.Manifest()), w.manifestBytes, manifest)
	}
	c.stageFile(w.rel(w.scope.Lock()), w.lockBytes, lock)
	return nil
}
