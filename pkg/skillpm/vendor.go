package skillpm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/vendored"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// VendorOptions say how a project's copy is written.
type VendorOptions struct {
	Check   bool // write nothing: report what differs
	DryRun  bool // write nothing: say what would be done
	Force   bool // replace what somebody edited
	Offline bool // use no network
}

// VendorReport is what [Client.Vendor] did, would do, or found.
type VendorReport struct {
	Scope    string          `json:"scope"`   // always project
	Root     string          `json:"root"`    // of the project
	Dir      string          `json:"dir"`     // of the copy, relative to the root
	Changed  bool            `json:"changed"` // something differs from what skillpm.lock says, or did before
	Check    bool            `json:"check"`   // nothing was written, because that was only compared
	DryRun   bool            `json:"dryRun"`  // nothing was written, and what would be done was asked for
	Skills   []VendorSkill   `json:"skills"`  // all of them, sorted by path
	Files    []string        `json:"files"`   // notes and records that are written or removed
	Left     []string        `json:"left"`    // what skillpm did not write: it stays
	Skipped  []VendorSkipped `json:"skipped"` // packs that are not copied
	Warnings []string        `json:"warnings"`
}

// VendorSkill is one skill of the copy.
type VendorSkill struct {
	Pack  string      `json:"pack"`
	Skill string      `json:"skill"`
	Path  string      `json:"path"`           // relative to the root
	Tree  string      `json:"tree,omitempty"` // the digest in skillpm.lock; none where the lock has no such skill
	State VendorState `json:"state"`          // before: right, missing, outdated, stale or edited
	What  string      `json:"what,omitempty"` // what is wrong with it
}

// VendorState tells how a copied skill compares with the lockfile.
type VendorState = vendored.State

// States of a copied skill that differs from the lockfile.
const (
	VendorMissing  = vendored.Missing  // it does not exist
	VendorOutdated = vendored.Outdated // skillpm wrote it, and the lockfile has another one
	VendorStale    = vendored.Stale    // skillpm wrote it, and the lockfile has no such skill
	VendorEdited   = vendored.Edited   // it was edited
)

// VendorSkipped is a pack that is not copied, and why.
type VendorSkipped struct {
	Pack string `json:"pack"`
	Why  string `json:"why"`
}

// Vendor brings the copy that a project keeps of its skills to what skillpm.lock says. What somebody edited there is a
// conflict error unless Force is given.
func (c *Client) Vendor(ctx context.Context, o VendorOptions) (*VendorReport, error) {
	defer c.Progress(Event{Done: true})
	healed := false
	for left := attempts; left > 0; left-- {
		report, err := c.vendor(ctx, o)
		switch {
		case isDamage(err) && !healed:
			healed = true
		case errors.Is(err, workspace.ErrGone) && left > 1:
		case !errors.Is(err, workspace.ErrChanged):
			return report, err
		}
	}
	return nil, errBusy()
}

// errBusy says that another process got in between too often.
func errBusy() error {
	return diag.Errorf(diag.Conflict, "another process keeps changing skillpm.yaml or skillpm.lock").
		WithHint("wait for it to finish and try again")
}

func (c *Client) vendor(ctx context.Context, o VendorOptions) (*VendorReport, error) {
	w, err := c.Machine.Open("", false)
	if err != nil {
		return nil, err
	}
	if !w.Locked() {
		return nil, diag.Errorf(diag.NotFound, "%s has no skillpm.lock", w.Scope.Root).
			WithHint("skillpm install writes it")
	}
	dry := o.Check || o.DryRun
	if !dry {
		if err := w.Recover(ctx); err != nil {
			return nil, err
		}
	}
	plan, err := vendored.Open(w.Scope.Root, c.OS).Compare(ctx, w.Lock)
	if err != nil {
		return nil, err
	}
	report := vendorReport(w, plan)
	report.Check, report.DryRun = o.Check, o.DryRun
	report.Warnings = append(report.Warnings, vendored.Ignored(ctx, w.Scope.Root, plan.Dir)...)
	if !o.Check {
		notes, err := c.admitCopy(ctx, w, o)
		if report.Warnings = append(report.Warnings, notes...); err != nil {
			return nil, err
		}
	}
	if o.Check || plan.Clean() {
		return report, nil
	}
	if edited := plan.Edited(); len(edited) > 0 && !o.Force {
		return nil, diag.Errorf(diag.Conflict, "%s", edited[0].What).
			WithHint("undo the change, or repeat the command with --force to give it up%s", andMore(len(edited)-1))
	}
	if o.DryRun {
		return report, nil
	}
	if err := c.writeCopy(ctx, w, plan, o, report); err != nil {
		return nil, err
	}
	return report, nil
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d more were edited", n)
}

// writeCopy fetches what the store does not have and carries the plan out.
func (c *Client) writeCopy(
	ctx context.Context, w *workspace.Workspace, plan *vendored.Plan, o VendorOptions, r *VendorReport,
) error {
	trees := plan.Trees()
	if err := c.stock(ctx, w, o.Offline, func(yield func(workspace.Tree) bool) {
		for _, it := range trees {
			if !yield(workspace.Tree{Pack: it.Pack, Skill: it.Skill, Digest: it.Tree}) {
				return
			}
		}
	}); err != nil {
		return err
	}
	if _, err := c.admitCopy(ctx, w, o); err != nil { // now that all files are here
		return err
	}
	store, err := c.Machine.Store()
	if err != nil {
		return err
	}
	err = w.Transact(ctx, func(tx *txn.Tx) error { return plan.Stage(ctx, tx, store) }, func() error {
		// fetching took time, in which somebody may have edited the copy
		now, err := vendored.Open(w.Scope.Root, c.OS).Compare(ctx, w.Lock)
		if err == nil && !now.Same(plan) {
			err = workspace.ErrChanged
		}
		return err
	})
	if diag.CodeOf(err) == diag.NotFound {
		return fmt.Errorf("%w: %w", workspace.ErrGone, err)
	}
	if err != nil {
		return err
	}
	plan.Prune()
	if after := vendored.Ignored(ctx, w.Scope.Root, plan.Dir); len(r.Warnings) == 0 {
		r.Warnings = append(r.Warnings, after...)
	}
	return nil
}

// admitCopy holds what a project keeps a copy of against the policies.
func (c *Client) admitCopy(ctx context.Context, w *workspace.Workspace, o VendorOptions) ([]string, error) {
	wk, err := c.work(ctx, w, InstallOptions{Offline: o.Offline})
	if err != nil {
		return nil, err
	}
	packs := map[pack.ID]bool{}
	for id := range w.Lock.Packs {
		packs[id] = true
	}
	sol := &solve.Solution{Lock: w.Lock.Clone(), Packs: map[pack.ID]*pack.Pack{}, Places: w.Places()}
	return wk.admitLocked(ctx, sol, packs)
}

// stock puts locked trees into the store that it does not have: those that are installed and intact, and then what has
// to be fetched.
func (c *Client) stock(
	ctx context.Context, w *workspace.Workspace, offline bool, trees func(func(workspace.Tree) bool),
) error {
	store, err := c.Machine.Store()
	if err != nil {
		return err
	}
	if err := w.RestoreStore(store, trees); err != nil {
		return err
	}
	wk, err := c.work(ctx, w, InstallOptions{Offline: offline})
	if err != nil {
		return err
	}
	sol := &solve.Solution{Lock: w.Lock, Packs: map[pack.ID]*pack.Pack{}, Places: w.Places()}
	return wk.FetchMissing(ctx, w.Manifest, sol, trees)
}

// Edited reports whether somebody changed the copy, so that it is replaced only by force.
func (r *VendorReport) Edited() bool {
	return slices.ContainsFunc(r.Skills, func(s VendorSkill) bool { return s.State == vendored.Edited })
}

// Command is the command that brings the copy to what the lock says.
func (r *VendorReport) Command() string { return vendored.Command(r.Edited()) }

func vendorReport(w *workspace.Workspace, plan *vendored.Plan) *VendorReport {
	r := &VendorReport{
		Scope: w.Scope.Kind, Root: w.Scope.Root, Dir: plan.Dir, Changed: !plan.Clean(), Skills: []VendorSkill{},
		Skipped: []VendorSkipped{},
		Files:   append([]string{}, plan.Files...), Left: append([]string{}, plan.Foreign...), Warnings: []string{},
	}
	for _, it := range plan.Items {
		r.Skills = append(r.Skills, VendorSkill{
			Pack: it.Pack.String(), Skill: it.Skill, Path: it.Path, Tree: it.Tree, State: it.State, What: it.What,
		})
	}
	for _, s := range plan.Skipped {
		r.Skipped = append(r.Skipped, VendorSkipped{Pack: s.Pack.String(), Why: s.Why})
	}
	if stays := foreignNotes(plan); stays != "" {
		r.Warnings = append(r.Warnings, stays)
	}
	return r
}

// foreignNotes warns of a .gitattributes that skillpm did not write: git may change bytes by it.
func foreignNotes(plan *vendored.Plan) string {
	i := slices.IndexFunc(plan.Foreign, func(at string) bool { return strings.HasSuffix(at, "/.gitattributes") })
	if i < 0 {
		return ""
	}
	return plan.Foreign[i] + " was not written by skillpm; a line `* -text` in it keeps git from changing line endings"
}
