package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// Standing are packs that are to be in force.
type Standing struct {
	Manifest *pack.Manifest
	Packs    map[pack.ID]*pack.LockedPack
	Linked   func(pack.ID) bool // to a directory of this machine
	Placed   map[pack.ID]bool   // of which skills are to be written
	Names    map[NameOf]string  // under which skills are known

	// Machine says that they are the enterprise layer, by a list that somebody signed and that never goes back: a skill
	// that a policy denies by name is installed, and used by nobody; and a pack may be older than it was.
	Machine bool
}

// parallelAdmissions is how many packs are looked at at once.
const parallelAdmissions = 8

// Admit holds what is to be in force against the policies, and against the signers that are asked for or that the lock
// had. Nothing that the project says counts as proof: the source that a lock names must be where its trees are from. In
// the solution's lock it records the signers that it found.
func (pr *Provider) Admit(ctx context.Context, sol *Solution, s Standing) error {
	ids := slices.SortedFunc(maps.Keys(s.Packs), pack.ID.Compare)
	for _, id := range ids {
		if err := pr.admitSource(s.place(id)); err != nil {
			return err
		}
		if err := pr.admitNames(id, s); err != nil {
			return err
		}
		if err := pr.admitVersion(id, s); err != nil {
			return err
		}
	}
	signers, vouched, demands := make([]string, len(ids)), make([]bool, len(ids)), make([][]demand, len(ids))
	for i, id := range ids {
		var err error
		if demands[i], err = pr.demands(id, s); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelAdmissions)
	for i, id := range ids {
		if observed, _ := pr.policies.ObservedAge(s.place(id)); len(demands[i]) == 0 && observed == 0 && !pr.policies.Restricts() {
			signers[i] = pr.keptSigner(id, s.Packs[id])
			continue
		}
		group.Go(func() (err error) {
			signers[i], vouched[i], err = pr.admit(ctx, sol, s, id, demands[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, id := range ids {
		entry := sol.Lock.Packs[id]
		if entry == nil || s.Linked(id) || s.Machine {
			continue
		}
		if err := pr.admitSigner(id, entry, signers[i], vouched[i]); err != nil {
			return err
		}
		if pr.options.Frozen {
			continue
		}
		if was := pr.lock.Packs[id]; was != nil && was.Signer != "" && signers[i] == "" {
			sol.Warnings = append(sol.Warnings, unpinned(id, was, entry))
		}
		if signers[i] == entry.Signer {
			continue
		}
		entry = entry.Clone()
		entry.Signer = signers[i]
		sol.Lock.Packs[id] = entry
	}
	return nil
}

// unpinned says that nobody is recorded any more as the signer of a pack.
func unpinned(id pack.ID, was, now *pack.LockedPack) string {
	return fmt.Sprintf("%s %s is taken as it is, and skillpm.lock records no signer of it any more (it was %s): the next version may be signed by anybody, or by nobody; "+
		"skillpm install --require-signature --key FILE records who signs it now", id, now.Version, Fingerprint(was.Signer))
}

// place returns where a pack is from, as a policy sees it.
func (s Standing) place(id pack.ID) string {
	if s.Linked(id) {
		return string(pack.KindPath)
	}
	return s.Packs[id].Source
}

func (pr *Provider) admitSource(place string) error {
	notes, err := pr.policies.Source(place)
	pr.note(notes...)
	return err
}

// admit looks at one pack, and returns who signed it. Vouched says that a policy asked for that.
func (pr *Provider) admit(ctx context.Context, sol *Solution, s Standing, id pack.ID, demands []demand) (signer string, vouched bool, err error) {
	entry := s.Packs[id]
	if s.Linked(id) || isDirectory(entry.Source) {
		return "", false, pr.admitDirectory(id, s.place(id), demands)
	}
	p, err := pr.pinned(s.Manifest, id, entry)
	if err == nil {
		err = pr.allow(p.Ref)
	}
	if err != nil {
		return "", false, err
	}
	ctx = pr.watched(ctx, p.Ref.Kind)
	if pr.policies.Restricts() {
		if err := pr.proven(ctx, sol, s, p, entry, func() error { return pr.originOf(ctx, p, entry) }); err != nil {
			return "", false, err
		}
	}
	if err := pr.admitAge(ctx, p, entry); err != nil {
		return "", false, err
	}
	for _, d := range demands {
		var found []string
		err := pr.proven(ctx, sol, s, p, entry, func() (err error) {
			found, err = pr.keeper.Signers(ctx, p, entry.Skills, d.wanted)
			return err
		})
		switch {
		case err != nil && d.optional && diag.CodeOf(err) == diag.Denied:
		case err != nil && d.observed && diag.CodeOf(err) != diag.Interrupted:
			pr.note(d.refused(err).Error() + " (the policy only observes)")
		case err != nil:
			return "", false, d.refused(err)
		default:
			vouched = vouched || d.rule != nil && !d.observed
			if signer == "" || slices.Contains(found, entry.Signer) {
				signer = choose(entry.Signer, found)
			}
		}
	}
	if signer == "" {
		signer = pr.keptSigner(id, entry)
	}
	return signer, vouched, nil
}

// choose returns the signer that the lock has, if that signed, else the first.
func choose(have string, found []string) string {
	if slices.Contains(found, have) || len(found) == 0 {
		return have
	}
	return found[0]
}

// keptSigner returns the signer that a lock goes on to record, where nobody had to look.
func (pr *Provider) keptSigner(id pack.ID, entry *pack.LockedPack) string {
	if slices.Contains(pr.options.Accept, id) && !pr.asLocked(id, entry) {
		return ""
	}
	return entry.Signer
}

// admitDirectory is admit for a directory of this machine, which nobody signs and which has no age.
func (pr *Provider) admitDirectory(id pack.ID, place string, demands []demand) error {
	for _, d := range demands {
		err := d.refused(&trust.UnsignedError{Pack: id.String(), Reason: "a directory has no signatures"})
		if !d.observed {
			return err
		}
		pr.note(err.Error() + " (the policy only observes)")
	}
	noAge := func(by policy.Rule) error {
		return diag.Errorf(diag.Denied, "%s: %s comes from a directory, which has no release age", by, id).WithHint("install a release of it")
	}
	if age, by := pr.policies.ObservedAge(place); age > 0 {
		pr.note(noAge(by).Error() + " (the policy only observes)")
	}
	if age, by := pr.policies.Age(place); age > 0 {
		return noAge(by)
	}
	return nil
}

// proven asks whether something holds for what a lock says of a pack. Where that can't be known because this machine
// did not fetch it, it is fetched, and asked again.
func (pr *Provider) proven(ctx context.Context, sol *Solution, s Standing, p *pack.Pack, entry *pack.LockedPack, ask func() error) error {
	err := ask()
	if _, unknown := errors.AsType[*trust.UnknownTreesError](err); !unknown {
		return err
	}
	var names []string
	if entry.Partial {
		names = slices.Sorted(maps.Keys(entry.Skills))
	}
	opened, looked := sol.Packs[p.ID]
	if !looked {
		if opened, err = pr.openPlace(pack.WithSkills(ctx, names), p.Ref); err != nil {
			return err
		}
		if err := sameVersion(p.ID, entry, opened); err != nil {
			return err
		}
	}
	if opened.Ref.Digest != p.Ref.Digest {
		return &bundle.MismatchError{What: p.ID.String() + " at " + p.Ref.Source(), Want: p.Ref.Digest, Got: opened.Ref.Digest}
	}
	got, err := pr.fetch(ctx, opened, names, entry.Skills)
	if err == nil {
		err = pr.keeper.Record(p, got) // a manifest may name the place otherwise
	}
	if err != nil {
		return err
	}
	return ask()
}

// pinned returns a pack as the lock has it.
func (pr *Provider) pinned(m *pack.Manifest, id pack.ID, entry *pack.LockedPack) (*pack.Pack, error) {
	ref, err := entry.Ref(id)
	if err != nil {
		return nil, err
	}
	if d, ok := m.Dependency(id); ok && d.Ref != nil && d.Ref.Kind == ref.Kind && ref.URL == "" {
		ref.URL, ref.Subdir = d.Ref.URL, d.Ref.Subdir
	}
	if dir, ok := pr.places[id.String()]; ok && ref.Kind == pack.KindLayout && ref.URL == "" {
		ref.URL = dir
	}
	p := &pack.Pack{ID: id, Version: entry.Version, Ref: anchored(pr.root, ref), Integrity: entry.Integrity}
	for _, name := range slices.Sorted(maps.Keys(entry.Skills)) {
		p.Skills = append(p.Skills, pack.Skill{Name: name, Tree: entry.Skills[name]})
	}
	return p, nil
}

// originOf checks that the place which the lock names has the trees that it names. What was found once is noted beside
// what else this machine knows; projects can't write there.
func (pr *Provider) originOf(ctx context.Context, p *pack.Pack, entry *pack.LockedPack) error {
	what := "origin " + p.ID.String() + "@" + entry.Version + " " + p.Ref.Source() + " " + p.Ref.URL + " " + entry.Resolved + " " + entry.Integrity
	if _, known, err := pr.sighted(what); known && err == nil {
		return nil
	}
	if err := pr.keeper.Origin(ctx, p, entry.Skills); err != nil {
		return err
	}
	_ = pr.notice(what, pr.options.Now().UTC()) // it only saves time
	return nil
}

// demand is that a pack be signed by some of those that are wanted.
type demand struct {
	wanted   trust.Wanted
	rule     *policy.Rule     // whose demand it is, nil for the two others
	before   *pack.LockedPack // what the lock had, whose signer must sign what comes after it
	flag     string           // what asked for it, where neither did
	pack     pack.ID
	version  string
	observed bool // a refusal is only noted
	optional bool // it is only looked who signed
}

// demands returns what signatures a pack needs: those of the policies, of the call, and that of who signed what is
// locked.
func (pr *Provider) demands(id pack.ID, s Standing) ([]demand, error) {
	var list []demand
	entry := s.Packs[id]
	var trusted trust.Wanted
	for _, r := range pr.policies.Signatures(s.place(id)) {
		w, err := pr.wanted(r)
		if err != nil && r.Policy.Mode == policy.Observe {
			pr.note(err.Error() + " (the policy only observes)")
			continue
		}
		if err != nil {
			return nil, err
		}
		trusted = together(trusted, w)
		list = append(list, demand{wanted: w, rule: &r, pack: id, version: entry.Version, observed: r.Policy.Mode == policy.Observe})
	}
	was := pr.lock.Packs[id]
	if was != nil && was.Signer != "" && !slices.Contains(pr.options.Accept, id) && !s.Linked(id) {
		w, err := lockedSigner(was.Signer)
		if err != nil {
			return nil, err
		}
		trusted = together(trusted, w)
		if !pr.asLocked(id, entry) || s.Placed[id] { // a store has trees of others, too: who signed them is asked wherever they are placed
			list = append(list, demand{wanted: w, before: was, pack: id, version: entry.Version})
		}
	}
	if slices.Contains(pr.options.Accept, id) && !pr.options.Signed && !s.Linked(id) && !isDirectory(entry.Source) {
		if w := together(trusted, pr.trusted); !w.Empty() { // who signs it from now on, if that is somebody who is known
			list = append(list, demand{wanted: w, pack: id, version: entry.Version, optional: true})
		}
		if len(pr.options.Keys) > 0 {
			list = append(list, demand{wanted: pr.trusted, flag: "--accept-signer with --key", pack: id, version: entry.Version})
		}
	}
	if pr.options.Signed {
		w := pr.trusted // who names keys means these, whatever a project's lock or policy says
		if w.Empty() {
			w = trusted
		}
		w.Threshold = 1
		list = append(list, demand{wanted: w, pack: id, version: entry.Version})
	}
	return list, nil
}

// together returns those that either of two wishes is for.
func together(a, b trust.Wanted) trust.Wanted {
	return trust.Wanted{
		Keys: slices.Concat(a.Keys, b.Keys), Identities: slices.Concat(a.Identities, b.Identities),
		AllowedSigners: slices.Concat(a.AllowedSigners, b.AllowedSigners), Threshold: 1,
	}
}

// asLocked reports whether a pack is what the lock had of it.
func (pr *Provider) asLocked(id pack.ID, entry *pack.LockedPack) bool {
	was, ok := pr.lock.Packs[id]
	return ok && was.Source == entry.Source && was.Resolved == entry.Resolved && was.Version == entry.Version
}

// refused explains a refusal by whose demand it does not meet.
func (d demand) refused(err error) error {
	switch {
	case diag.CodeOf(err) == diag.Interrupted:
		return err
	case d.rule != nil:
		return &refusal{what: d.rule.String(), err: err}
	case d.before != nil:
		return &SignerChangedError{Pack: d.pack, Was: d.before.Version, Version: d.version, Signer: d.before.Signer, Err: err}
	}
	return &refusal{what: cmp.Or(d.flag, "--require-signature"), err: err}
}
