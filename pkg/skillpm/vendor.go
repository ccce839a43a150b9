package skillpm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/vendored"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
)

// VendorOptions are the options of [Client.Vendor].
type VendorOptions struct {
	Check   bool // only report what differs
	DryRun  bool // only report what would be done
	Force   bool // replace local edits
	Offline bool // use no network
}

// VendorReport is what [Client.Vendor] did, would do, or found.
type VendorReport struct {
	Scope    string          `json:"scope"`   // always project
	Root     string          `json:"root"`    // of the project
	Dir      string          `json:"dir"`     // of the copy, relative to the root
	Changed  bool            `json:"changed"` // the copy differs from skillpm.lock, or did before
	Check    bool            `json:"check"`   // the options said Check
	DryRun   bool            `json:"dryRun"`  // the options said DryRun
	Skills   []VendorSkill   `json:"skills"`  // all of them, sorted by path
	Files    []string        `json:"files"`   // notes and records that are written or removed
	Foreign  []string        `json:"left"`    // files that skillpm did not create; they stay
	Skipped  []VendorSkipped `json:"skipped"` // packs that are not copied
	Warnings []string        `json:"warnings"`
}

// VendorSkill is one skill of the copy.
type VendorSkill struct {
	Pack  string      `json:"pack"`
	Skill string      `json:"skill"`
	Path  string      `json:"path"`           // relative to the root
	Tree  string      `json:"tree,omitempty"` // the digest in skillpm.lock, "" if it does not have the skill
	State VendorState `json:"state"`          // before: right, missing, outdated, stale or edited
	What  string      `json:"what,omitempty"` // the problem
}

// VendorState tells how a copied skill compares with the lockfile.
type VendorState = vendored.State

// States of a copied skill that differs from the lockfile.
const (
	VendorMissing  = vendored.Missing  // it does not exist
	VendorOutdated = vendored.Outdated // unedited, but the lockfile has another version
	VendorStale    = vendored.Stale    // unedited, but the lockfile does not have the skill
	VendorEdited   = vendored.Edited   // it has local edits
)

// VendorSkipped is a pack that is not copied.
type VendorSkipped struct {
	Pack string `json:"pack"`
	Why  string `json:"why"`
}

// Vendor writes the copy of the skills that a project keeps in its repository, as skillpm.lock has them. A local edit
// of the copy is a conflict error unless Force is given.
func (c *Client) Vendor(ctx context.Context, o VendorOptions) (*VendorReport, error) {
	defer c.Progress(Event{Done: true})
	return workspace.Retry(scopeFiles, func() (*VendorReport, error) { return c.vendor(ctx, o) })
}

func (c *Client) vendor(ctx context.Context, o VendorOptions) (*VendorReport, error) {
	w, err := c.Machine.Open("", false)
	if err != nil {
		return nil, err
	}
	if !w.HasLock() {
		return nil, diag.Errorf(diag.NotFound, "skillpm.lock does not exist in %s", w.Scope.Root).
			WithHint("create skillpm.lock with: skillpm install")
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
			WithHint("%s", discardHint(len(edited)))
	}
	if o.DryRun {
		return report, nil
	}
	if err := c.writeCopy(ctx, w, plan, o, report); err != nil {
		return nil, err
	}
	return report, nil
}

func discardHint(edited int) string {
	if edited == 1 {
		return "undo the edit, or use --force to discard the edit"
	}
	return fmt.Sprintf("undo the edits, or use --force to discard the edits of all %d skills", edited)
}

// writeCopy fetches what the store lacks and carries out the plan.
func (c *Client) writeCopy(
	ctx context.Context, w *workspace.Workspace, plan *vendored.Plan, o VendorOptions, r *VendorReport,
) error {
	store, err := c.Machine.Store()
	if err != nil {
		return err
	}
	var trees []workspace.Tree
	for _, item := range plan.Trees() {
		trees = append(trees, workspace.Tree{Pack: item.Pack, Skill: item.Skill, Digest: item.Tree})
	}
	if err := w.RestoreStore(store, slices.Values(trees)); err != nil {
		return err
	}
	in, err := c.installer(ctx, w, request{ChangeOptions: ChangeOptions{Offline: o.Offline}})
	if err != nil {
		return err
	}
	sol := lockedResolution(w).Solution
	if err := in.FetchMissing(ctx, w.Manifest, sol, slices.Values(trees)); err != nil {
		return err
	}
	if _, err := c.admitCopy(ctx, w, o); err != nil { // again, since all files are on this machine now
		return err
	}
	err = w.Transact(ctx, func(tx *txn.Tx) error { return plan.Stage(ctx, tx, store) }, func() error {
		// fetching took time, in which the copy may have been edited
		now, err := vendored.Open(w.Scope.Root, c.OS).Compare(ctx, w.Lock)
		if err == nil && !now.Same(plan) {
			err = workspace.ErrChanged
		}
		return err
	})
	switch {
	case isDamaged(err):
		return fmt.Errorf("%w: %w", workspace.ErrDamaged, err)
	case diag.CodeOf(err) == diag.NotFound:
		return fmt.Errorf("%w: %w", workspace.ErrGone, err)
	case err != nil:
		return err
	}
	plan.Prune()
	if after := vendored.Ignored(ctx, w.Scope.Root, plan.Dir); len(r.Warnings) == 0 {
		r.Warnings = append(r.Warnings, after...)
	}
	return nil
}

// admitCopy checks the packs of the lockfile against the policies.
func (c *Client) admitCopy(ctx context.Context, w *workspace.Workspace, o VendorOptions) ([]string, error) {
	in, err := c.installer(ctx, w, request{ChangeOptions: ChangeOptions{Offline: o.Offline}})
	if err != nil {
		return nil, err
	}
	packs := map[pack.ID]bool{}
	for id := range w.Lock.Packs {
		packs[id] = true
	}
	return in.admitLocked(ctx, packs)
}

// Edited reports whether the copy has local edits, so that only Force replaces it.
func (r *VendorReport) Edited() bool {
	return slices.ContainsFunc(r.Skills, func(s VendorSkill) bool { return s.State == vendored.Edited })
}

// Command is the command that updates the copy.
func (r *VendorReport) Command() string { return vendored.Command(r.Edited()) }

func vendorReport(w *workspace.Workspace, plan *vendored.Plan) *VendorReport {
	r := &VendorReport{
		Scope: w.Scope.Kind, Root: w.Scope.Root, Dir: plan.Dir, Changed: !plan.Clean(), Skills: []VendorSkill{},
		Skipped: []VendorSkipped{},
		Files:   append([]string{}, plan.Files...), Foreign: append([]string{}, plan.Foreign...), Warnings: []string{},
	}
	for _, it := range plan.Items {
		r.Skills = append(r.Skills, VendorSkill{
			Pack: it.Pack.String(), Skill: it.Skill, Path: it.Path, Tree: it.Tree, State: it.State, What: it.What,
		})
	}
	for _, s := range plan.Skipped {
		r.Skipped = append(r.Skipped, VendorSkipped{Pack: s.Pack.String(), Why: s.Why})
	}
	if warning := foreignNotes(plan); warning != "" {
		r.Warnings = append(r.Warnings, warning)
	}
	return r
}

// foreignNotes returns a warning about a .gitattributes that skillpm did not create, because git may change bytes by
// it.
func foreignNotes(plan *vendored.Plan) string {
	i := slices.IndexFunc(plan.Foreign, func(at string) bool { return strings.HasSuffix(at, "/.gitattributes") })
	if i < 0 {
		return ""
	}
	return "skillpm did not create " + plan.Foreign[i] +
		"; add the line `* -text` to the file so that git does not change line endings"
}
