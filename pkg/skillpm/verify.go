package skillpm

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/trust"
	"github.com/skillpm/skillpm/pkg/store"
)

// VerifyReport is the result of comparing what is installed with the lockfile.
type VerifyReport = workspace.VerifyReport

// Problem is a difference from the lockfile.
type Problem = workspace.Problem

// Kinds of problems.
const (
	KindChanged     = workspace.KindChanged     // an installed skill differs from the lockfile
	KindDenied      = workspace.KindDenied      // agents still find a skill that a policy denies
	KindStray       = workspace.KindStray       // a link leads to a skill that was installed once
	KindForeign     = workspace.KindForeign     // a file that skillpm did not create is where a link belongs
	KindStranger    = workspace.KindUnlisted    // an installed pack is not in the lockfile
	KindInterrupted = workspace.KindInterrupted // an installation was interrupted
	KindDamaged     = workspace.KindDamaged     // a tree of the store does not match its digest
)

// VerifyOptions are the options of [Client.Verify].
type VerifyOptions struct {
	Scope   string // scope.KindProject or scope.KindUser; "" means the project
	Store   bool   // also hash the trees of the lockfile in the store
	Fix     bool   // fix what is wrong, also in the store
	Force   bool   // with Fix: replace local edits, and remove what the lockfile does not have
	Offline bool   // use no network, which Fix and Signatures may need

	Signatures bool // check the signatures of packs whose signers the lock records
}

// Verify hashes every installed skill and compares it with the lockfile; see [workspace.Workspace.Verify]. With Fix it
// restores what is missing or wrong from the store or the locked source, and reports what it could not fix. Local edits
// and files that skillpm did not create stay unless Force is given.
func (c *Client) Verify(ctx context.Context, o VerifyOptions) (*VerifyReport, error) {
	defer c.Progress(Event{Done: true})
	if o.Force && !o.Fix {
		return nil, diag.Errorf(diag.Usage, "--force requires --fix")
	}
	before, err := c.verify(ctx, o)
	if err != nil || !o.Fix || len(before.Problems)+len(before.Store.Problems) == 0 {
		return before, err
	}
	fixed, err := workspace.Retry(scopeFiles, func() (repair, error) { return c.repair(ctx, o) })
	if err != nil {
		return nil, err
	}
	after, err := c.verify(ctx, o)
	if err != nil {
		return nil, err
	}
	after.Saved = fixed.saved
	after.Fixed = append(resolved(before.Problems, after.Problems),
		resolved(before.Store.Problems, after.Store.Problems)...)
	for i, p := range after.Problems {
		reason := fixed.failures[p.Path]
		if after.Problems[i].Why = reason.text; reason.unfetched {
			after.Problems[i].Kind = workspace.KindUnfetched
		}
	}
	return after, nil
}

// verify compares and changes nothing.
func (c *Client) verify(ctx context.Context, o VerifyOptions) (*VerifyReport, error) {
	w, err := c.Machine.Open(o.Scope, false)
	if err != nil {
		return nil, err
	}
	r, err := w.Verify(ctx)
	if err == nil && (o.Store || o.Fix) {
		c.Progress(Event{Text: "verifying the store"})
		r.Store, err = w.VerifyStore(ctx)
	}
	if err == nil {
		err = c.verifySigners(ctx, w, o, r)
	}
	return r, err
}

// verifySigners adds the recorded signers and, with Signatures, what is wrong with the signatures.
func (c *Client) verifySigners(ctx context.Context, w *workspace.Workspace, o VerifyOptions, r *VerifyReport) error {
	r.Signed = []workspace.SignedPack{}
	for _, id := range w.Lock.IDs() {
		if p := w.Lock.Packs[id]; p.Signer != "" {
			r.Signed = append(r.Signed, workspace.SignedPack{
				Pack: id.String(), Version: p.Version, Signer: p.Signer, SignedBy: trust.Fingerprint(p.Signer),
			})
		}
	}
	if !o.Signatures || len(r.Signed) == 0 {
		return nil
	}
	services, err := c.Services(ctx, w, base.ServiceOptions{Offline: o.Offline})
	if err != nil {
		return err
	}
	wrong, err := services.Admission.Recheck(ctx, w.Manifest)
	if err != nil {
		return err
	}
	for i, s := range r.Signed {
		id, err := pack.ParseID(s.Pack)
		if err != nil {
			return err
		}
		if wrong[id] == nil {
			r.Signed[i].Checked = true
			continue
		}
		r.Problems = append(r.Problems, Problem{
			Kind: workspace.KindSignature, Path: s.Pack, Message: wrong[id].Error(),
		})
	}
	return nil
}

// resolved returns the problems that no longer exist.
func resolved(before, after []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(before), func(p Problem) bool {
		return slices.ContainsFunc(after, func(q Problem) bool { return p.Path == q.Path })
	})
}

// repair is the result of fixing what differs from the lockfile.
type repair struct {
	failures map[string]failure // why entries stay as they are, by path
	saved    map[string]string  // replaced entries with local edits -> where a copy is
}

// failure says why an entry was not fixed.
type failure struct {
	text      string
	unfetched bool // the content could not be fetched
}

// repair restores what differs from the lockfile.
func (c *Client) repair(ctx context.Context, o VerifyOptions) (r repair, err error) {
	in, err := c.open(ctx, request{ChangeOptions: ChangeOptions{Scope: o.Scope, Offline: o.Offline}})
	if err != nil {
		return r, err
	}
	l, err := in.InstalledLayout()
	if err != nil {
		return r, err
	}
	store, err := c.Machine.Store()
	if err != nil {
		return r, err
	}
	options := workspace.CompareOptions{Hash: true, Force: o.Force, Repair: true, Except: map[string]bool{}}
	change, err := in.Compare(l, options) // before the store discards damaged trees, whose inventories it needs
	if err != nil {
		return r, err
	}
	damaged, err := in.repairStore(ctx, store)
	if err != nil {
		return r, err
	}
	trees := slices.DeleteFunc(in.LockedTrees(), func(t workspace.Tree) bool { return !damaged[t.Digest] })
	doubtful := maps.Clone(change.Trees)
	for _, skipped := range change.Skipped {
		if t, ok := l.Tree(skipped.Path); ok { // only the store can tell an edit from a missing file
			doubtful[skipped.Path] = t
		}
	}
	r.failures = map[string]failure{}
	fetchErr := in.fetchEach(ctx, slices.AppendSeq(trees, maps.Values(doubtful)))
	if diag.CodeOf(fetchErr) == diag.Interrupted {
		return r, fetchErr
	}
	for at, t := range doubtful {
		if fetchErr != nil && !store.Has(t.Digest) {
			options.Except[at], r.failures[at] = true, failure{text: fetchErr.Error(), unfetched: true}
		}
	}
	in.StartScan()
	if change, err = in.Compare(l, options); err != nil {
		return r, err
	}
	for _, skipped := range change.Skipped {
		if skipped.Err != nil {
			r.failures[skipped.Path] = failure{text: skipped.Err.Error()}
		}
	}
	if change.Empty() && !change.UpdatesState() {
		return r, nil
	}
	packs := map[pack.ID]bool{}
	for _, t := range change.Trees {
		packs[t.Pack] = true
	}
	if _, err := in.admitLocked(ctx, packs); err != nil {
		return r, err
	}
	restored := &InstallReport{}
	for _, id := range sortedIDs(packs) {
		p := l.Packs[id]
		restored.Packs = append(restored.Packs, PackReport{
			Pack: id.String(), Version: p.Version, Source: p.Source, Resolved: p.Resolved, Integrity: p.Integrity,
			SignedBy: trust.Fingerprint(p.Signer), Action: ActionRestored,
		})
	}
	r.saved = change.Backups()
	documents := workspace.Documents{Manifest: in.Manifest, Lock: in.Lock, Directories: in.Directories()}
	return r, in.recordChange(restored, in.Lock.Encode(), func() error {
		return in.Apply(ctx, change, l, documents, options)
	})
}

// repairStore discards the damaged trees of the lockfile from the store and puts back those that are installed intact.
// It returns the digests of the damaged trees.
func (in *installer) repairStore(ctx context.Context, s *store.Store) (map[string]bool, error) {
	report, err := in.VerifyStore(ctx)
	if err != nil {
		return nil, err
	}
	damaged := map[string]bool{}
	for _, p := range report.Problems {
		if err := s.Discard(p.Want); err != nil {
			return nil, err
		}
		damaged[p.Want] = true
	}
	return damaged, in.RestoreStore(s, slices.Values(in.LockedTrees()))
}

// fetchEach fetches trees that the store lacks, one pack after the other, so that a pack that can't be fetched does not
// keep others from being fixed. It returns the first error.
func (in *installer) fetchEach(ctx context.Context, trees []workspace.Tree) (first error) {
	sol := lockedResolution(in.Workspace).Solution
	for _, id := range in.Lock.IDs() {
		mine := slices.DeleteFunc(slices.Clone(trees), func(t workspace.Tree) bool { return t.Pack != id })
		err := in.FetchMissing(ctx, in.Manifest, sol, slices.Values(mine))
		if diag.CodeOf(err) == diag.Interrupted {
			return err
		}
		first = cmp.Or(first, err)
	}
	return first
}
