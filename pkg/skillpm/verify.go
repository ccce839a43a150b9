package skillpm

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/trust"
	"github.com/skillpm/skillpm/pkg/store"
)

// VerifyReport is the result of comparing what is installed with the lock.
type VerifyReport = workspace.VerifyReport

// Problem is one thing that differs from the lock.
type Problem = workspace.Problem

// Kinds of problems.
const (
	KindChanged     = workspace.KindChanged     // an installed skill differs from the lockfile
	KindStray       = workspace.KindStray       // a link leads to a skill that was installed once
	KindForeign     = workspace.KindForeign     // a file that skillpm did not create is where a link belongs
	KindStranger    = workspace.KindStranger    // an installed pack is not in the lockfile
	KindInterrupted = workspace.KindInterrupted // an installation was interrupted
	KindDamaged     = workspace.KindDamaged     // a tree of the store does not match its digest
)

// VerifyOptions say what is compared with the lock, and whether it is mended.
type VerifyOptions struct {
	Scope   string // scope.KindProject or scope.KindUser; "" means the project
	Store   bool   // hash what the store has of the lock, too
	Fix     bool   // mend what is wrong, in the store as well
	Force   bool   // with Fix: give up what was edited, and remove what the lock does not have
	Offline bool   // use no network, which Fix and Signatures may need

	Signatures bool // check the signatures of packs whose signers the lock records
}

// Verify hashes every installed skill and compares it with the lock; see [workspace.Workspace.Verify]. With Fix it puts
// back what is missing or wrong, from the store or from where it is locked, and reports what it could not mend. What
// was edited, and what skillpm did not write, stays unless Force is given.
func (c *Client) Verify(ctx context.Context, o VerifyOptions) (*VerifyReport, error) {
	defer c.Progress(Event{Done: true})
	if o.Force && !o.Fix {
		return nil, diag.Errorf(diag.Usage, "--force says how to fix: give --fix as well")
	}
	before, err := c.verify(ctx, o)
	if err != nil || !o.Fix || len(before.Problems)+len(before.Store.Problems) == 0 {
		return before, err
	}
	why, saved, err := c.fixAll(ctx, o)
	if err != nil {
		return nil, err
	}
	after, err := c.verify(ctx, o)
	if err != nil {
		return nil, err
	}
	after.Saved = saved
	after.Fixed = append(solved(before.Problems, after.Problems),
		solved(before.Store.Problems, after.Store.Problems)...)
	for i, p := range after.Problems {
		reason := why[p.Path]
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
		c.Progress(Event{Text: "hashing what the store has"})
		r.Store, err = w.VerifyStore(ctx)
	}
	if err == nil {
		err = c.verifySigners(ctx, w, o, r)
	}
	return r, err
}

// verifySigners adds who signed what, and with Signatures what is wrong with that.
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
	wk, err := c.work(ctx, w, InstallOptions{Offline: o.Offline})
	if err != nil {
		return err
	}
	wrong, err := wk.Admission.Recheck(ctx, w.Manifest)
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

// solved returns the problems that are there no more.
func solved(before, after []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(before), func(p Problem) bool {
		return slices.ContainsFunc(after, func(q Problem) bool { return p.Path == q.Path })
	})
}

// reason says why an entry was not mended.
type reason struct {
	text      string
	unfetched bool // what belongs there could not be had
}

// fixAll mends, and starts over where others got in between. It returns why entries stay as they are, and where
// copies are of those that were edited and did not stay, by path.
func (c *Client) fixAll(
	ctx context.Context, o VerifyOptions,
) (why map[string]reason, saved map[string]string, err error) {
	healed := false
	for left := attempts; left > 0; left-- {
		why, saved, err = c.fix(ctx, o)
		switch {
		case errors.Is(err, workspace.ErrDamaged) && !healed:
			healed = true
		case errors.Is(err, workspace.ErrGone) && left > 1:
		case !errors.Is(err, workspace.ErrChanged):
			return why, saved, err
		}
	}
	return nil, nil, errBusy()
}

func (c *Client) fix(ctx context.Context, o VerifyOptions) (why map[string]reason, saved map[string]string, err error) {
	w, err := c.open(ctx, InstallOptions{Scope: o.Scope, Offline: o.Offline}, false)
	if err != nil {
		return nil, nil, err
	}
	l, err := w.Installed()
	if err != nil {
		return nil, nil, err
	}
	store, err := c.Machine.Store()
	if err != nil {
		return nil, nil, err
	}
	options := workspace.CompareOptions{Hash: true, Force: o.Force, Repair: true, Except: map[string]bool{}}
	change, err := w.Compare(l, options) // while the store still says which files a damaged tree had
	if err != nil {
		return nil, nil, err
	}
	sick, err := w.heal(ctx, store)
	if err != nil {
		return nil, nil, err
	}
	wanted := slices.DeleteFunc(w.LockedTrees(), func(t workspace.Tree) bool { return !sick[t.Digest] })
	unsure := maps.Clone(change.Place)
	for _, left := range change.Left {
		if t, ok := l.Tree(left.Path); ok { // the store may not have what would say that only a file is missing
			unsure[left.Path] = t
		}
	}
	why = map[string]reason{}
	fetchErr := w.bring(ctx, slices.AppendSeq(wanted, maps.Values(unsure)))
	if diag.CodeOf(fetchErr) == diag.Interrupted {
		return nil, nil, fetchErr
	}
	for at, t := range unsure {
		if fetchErr != nil && !store.Has(t.Digest) {
			options.Except[at], why[at] = true, reason{text: fetchErr.Error(), unfetched: true}
		}
	}
	w.StartScan()
	if change, err = w.Compare(l, options); err != nil {
		return nil, nil, err
	}
	for _, left := range change.Left {
		if left.Err != nil {
			why[left.Path] = reason{text: left.Err.Error()}
		}
	}
	if change.Empty() && !change.Restated() {
		return why, nil, nil
	}
	packs := map[pack.ID]bool{}
	for _, t := range change.Place {
		packs[t.Pack] = true
	}
	if _, err := w.admitLocked(ctx, &solve.Solution{
		Lock: w.Lock.Clone(), Packs: map[pack.ID]*pack.Pack{},
		Places: w.Places(),
	}, packs); err != nil {
		return nil, nil, err
	}
	goal := workspace.Goal{Manifest: w.Manifest, Lock: w.Lock, Places: w.Places()}
	restored := &InstallReport{}
	for _, id := range slices.SortedFunc(maps.Keys(packs), pack.ID.Compare) {
		p := l.Packs[id]
		restored.Packs = append(restored.Packs, PackReport{
			Pack: id.String(), Version: p.Version, Source: p.Source, Resolved: p.Resolved, Integrity: p.Integrity,
			SignedBy: trust.Fingerprint(p.Signer), Action: ActionRestored,
		})
	}
	return why, change.Saved(), w.recorded(restored, w.Lock.Encode(),
		func() error { return w.Apply(ctx, change, l, goal, options) })
}

// heal throws the damaged trees of the lock out of the store, puts back those that are installed and intact, and
// returns the digests of those that were damaged.
func (w *work) heal(ctx context.Context, s *store.Store) (map[string]bool, error) {
	damaged, err := w.VerifyStore(ctx)
	if err != nil {
		return nil, err
	}
	sick := map[string]bool{}
	for _, p := range damaged.Problems {
		if err := s.Discard(p.Want); err != nil {
			return nil, err
		}
		sick[p.Want] = true
	}
	return sick, w.RestoreStore(s, slices.Values(w.LockedTrees()))
}

// bring fetches what the store does not have, one pack after the other, so that one that can't be had keeps none from
// being mended. The error is that of the first.
func (w *work) bring(ctx context.Context, trees []workspace.Tree) (first error) {
	sol := &solve.Solution{Lock: w.Lock, Packs: map[pack.ID]*pack.Pack{}, Places: w.Places()}
	for _, id := range w.Lock.IDs() {
		mine := slices.DeleteFunc(slices.Clone(trees), func(t workspace.Tree) bool { return t.Pack != id })
		err := w.FetchMissing(ctx, w.Manifest, sol, slices.Values(mine))
		if diag.CodeOf(err) == diag.Interrupted {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}
