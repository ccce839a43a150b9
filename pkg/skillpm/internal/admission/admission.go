// Package admission decides whether packs may be installed: by the policies in effect, by their signers, and by what
// was installed before.
//
// [Admission.Admit] decides before anything is fetched, [Admission.AdmitFiles] when the files are there. Nothing that a
// project states counts as proof: the source that a lock names must really have its trees. What policies that only
// observe would refuse is noted at the [fetch.Gate].
package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/firstseen"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// Signing are the signatures that a call requires besides those of the policies and of the lock.
type Signing struct {
	Require bool      // each pack must have a trusted signature
	Keys    []string  // files of keys that are trusted besides those of the settings and of policies
	Accept  []pack.ID // packs whose signer may be another than before, or nobody
}

// Options configure an [Admission].
type Options struct {
	Evaluator *enforce.Evaluator
	Fetcher   *fetch.Fetcher
	Seen      firstseen.Records
	Previous  *pack.Lock // the lock of the scope
	Installed func(pack.ID) (workspace.InstalledPack, bool)
	Signing   Signing
	Frozen    bool           // record nothing in the lock
	Settings  []*pack.Config // the administrator's and the user's, whose publishers both apply
}

// Admission decides which packs may be installed in one scope.
type Admission struct {
	Options
	policies policy.Set
	trusted  trust.Requirement             // whose signatures count for Signing
	rules    map[ruleKey]trust.Requirement // the signers of policies
	claims   map[pack.ID][]string          // what Admit verified, by pack
}

// New returns the admission of a scope. The error is about the keys that the call or the settings name.
func New(o Options, config *pack.Config) (*Admission, error) {
	a := &Admission{Options: o, policies: o.Fetcher.Gate.Policies, rules: map[ruleKey]trust.Requirement{}}
	return a, a.readTrusted(config)
}

// readTrusted reads the keys that are trusted for this call.
func (a *Admission) readTrusted(config *pack.Config) (err error) {
	for _, id := range a.Signing.Accept {
		if a.Previous.Packs[id] == nil {
			return diag.Errorf(diag.NotFound, "cannot use --accept-signer %s: skillpm.lock does not contain the pack",
				id)
		}
	}
	if !a.Signing.Require && len(a.Signing.Accept) == 0 {
		return nil
	}
	files := slices.Clone(a.Signing.Keys)
	for _, name := range config.TrustedKeys {
		files = append(files, config.File(name))
	}
	if a.trusted, err = trust.ReadKeys(files); err != nil {
		return err
	}
	signed := false
	for _, p := range a.Previous.Packs {
		signed = signed || p.Signer != ""
	}
	if a.Signing.Require && len(files) == 0 && !signed && !a.policies.Restricts() {
		return diag.Errorf(diag.Usage, "--require-signature requires trusted signers").
			WithHint("add a public key with --key FILE, or under trusted-keys in the settings")
	}
	return nil
}

// Candidates are packs that are to be installed.
type Candidates struct {
	Manifest *pack.Manifest
	Packs    map[pack.ID]*pack.LockedPack
	Linked   func(pack.ID) bool       // to a directory of this machine
	Placed   map[pack.ID]bool         // of which skills are to be written
	Names    map[pack.SkillKey]string // under which skills are available

	// IsNewlyLinked reports whether the operation links a pack, nil if it links none.
	IsNewlyLinked func(pack.ID) bool

	// RefusesDenied makes each denied skill an error, as for packs that are only fetched.
	RefusesDenied bool

	// Machine is set for the enterprise layer, whose list is signed and never goes back: a skill that a policy denies
	// by name is installed and not used, and a pack may be older than it was.
	Machine bool
}

// NotLinked is the Linked of candidates of which none is.
func NotLinked(pack.ID) bool { return false }

func (c Candidates) ids() []pack.ID { return slices.SortedFunc(maps.Keys(c.Packs), pack.ID.Compare) }

// source returns where a pack is from, as policies see it.
func (c Candidates) source(id pack.ID) string {
	if c.Linked(id) {
		return string(pack.KindPath)
	}
	return c.Packs[id].Source
}

// explain adds to the denial of a pack which other pack requires it, if the manifest does not.
func (c Candidates) explain(id pack.ID, err error) error {
	if _, direct := c.Manifest.Dependency(id); direct || c.Linked(id) || diag.CodeOf(err) != diag.Denied {
		return err
	}
	for _, by := range c.ids() {
		if _, ok := c.Packs[by].Dependencies[id.String()]; ok {
			return fmt.Errorf("%w (%s requires %s)", err, by, id)
		}
	}
	return err
}

// parallelAdmissions is how many packs are looked at at once.
const parallelAdmissions = 8

// verdict is what was found about the signatures of a pack.
type verdict struct {
	signer  string // to record in the lock
	vouched bool   // a policy requires this signer
}

// Admit checks candidates against the policies, and against the required and the locked signers. It records the signers
// that it finds in the solution's lock.
func (a *Admission) Admit(ctx context.Context, sol *solve.Solution, c Candidates) error {
	ids := c.ids()
	demands := make([][]demand, len(ids))
	for _, id := range ids {
		for _, check := range []func(pack.ID, Candidates) error{a.checkSource, a.checkNames, a.checkDowngrade} {
			if err := check(id, c); err != nil {
				return err
			}
		}
	}
	for i, id := range ids {
		var err error
		if demands[i], err = a.demands(id, c); err != nil {
			return err
		}
	}
	verdicts := make([]verdict, len(ids))
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(parallelAdmissions)
	a.claims = map[pack.ID][]string{}
	for i, id := range ids {
		if a.policies.Restricts() || slices.ContainsFunc(demands[i], func(d demand) bool { return d.before != nil }) {
			a.claims[id] = a.claimsOf(id, c)
		}
		if age, _ := a.policies.ObservedAge(c.source(id)); len(demands[i]) == 0 && age == 0 && !a.policies.Restricts() {
			verdicts[i].signer = a.lockedSigner(id, c.Packs[id])
			continue
		}
		group.Go(func() (err error) {
			verdicts[i], err = a.admit(ctx, sol, c, id, demands[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, id := range ids {
		locked := sol.Lock.Packs[id]
		if locked == nil || c.Linked(id) || c.Machine {
			continue
		}
		if err := a.checkSignerChange(id, locked, verdicts[i]); err != nil {
			return err
		}
		if !a.Frozen {
			a.record(sol, id, verdicts[i].signer)
		}
	}
	return nil
}

// claimsOf returns what is verified about a candidate once it is admitted: what the lock claims about it, and that it
// meets the requirements of the policies.
func (a *Admission) claimsOf(id pack.ID, c Candidates) []string {
	if c.Linked(id) {
		return nil // see RecordVerified
	}
	claim := c.Packs[id].Claim(id)
	claims := []string{claim}
	for _, r := range a.policies.Rules(c.source(id)) {
		if r.Policy.Mode != policy.Observe {
			claims = append(claims, enforce.RuleClaim(claim, r.Requirement))
		}
	}
	return claims
}

// RecordVerified records, where projects cannot write, which claims of the lock this machine has verified: those of the
// last call of [Admission.Admit], those of packs that it has fetched, and linked packs. Policies rely on them when
// skills are used.
func (a *Admission) RecordVerified(lock *pack.Lock, linked map[pack.ID]*workspace.LinkedPack) error {
	var claims []string
	for id, locked := range lock.Packs {
		claims = append(claims, a.claims[id]...)
		if len(a.claims[id]) == 0 && a.Fetcher.HasFetched(id, locked) {
			claims = append(claims, locked.Claim(id))
		}
	}
	for id, p := range linked {
		for _, dir := range p.Skills {
			claim := pack.LinkedClaim(id.String(), dir)
			claims = append(claims, claim)
			for _, r := range a.policies.Rules(string(pack.KindPath)) {
				if r.Policy.Mode != policy.Observe {
					claims = append(claims, enforce.RuleClaim(claim, r.Requirement))
				}
			}
		}
	}
	return a.Evaluator.RecordVerified(claims)
}

// record writes the signer of a pack into a solution's lock.
func (a *Admission) record(sol *solve.Solution, id pack.ID, signer string) {
	locked := sol.Lock.Packs[id]
	if was := a.Previous.Packs[id]; was != nil && was.Signer != "" && signer == "" {
		sol.Warnings = append(sol.Warnings,
			fmt.Sprintf("skillpm accepted %s %s and removed the signer %s from skillpm.lock. "+
				"The next version may have any signature or none. Record the new signer with: "+
				"skillpm install --require-signature --key FILE", id, locked.Version, trust.Fingerprint(was.Signer)))
	}
	if signer != locked.Signer {
		locked = locked.Clone()
		locked.Signer = signer
		sol.Lock.Packs[id] = locked
	}
}

func (a *Admission) checkSource(id pack.ID, c Candidates) error {
	return a.Fetcher.Gate.AllowSource(c.source(id))
}

// checkNames refuses a new pack if policies deny all of its skills by name. Otherwise a denied skill is only left out:
// one user's denial must not change what a team locks.
func (a *Admission) checkNames(id pack.ID, c Candidates) error {
	names := slices.Sorted(maps.Keys(c.Packs[id].Skills))
	if c.RefusesDenied {
		for _, name := range names {
			if err := a.checkName(id, name, c); err != nil {
				return c.explain(id, err)
			}
		}
		return nil
	}
	if a.Previous.Packs[id] != nil || c.Linked(id) && (c.IsNewlyLinked == nil || !c.IsNewlyLinked(id)) {
		for _, name := range names {
			_ = a.checkName(id, name, c) // for the notes of policies that only observe
		}
		return nil
	}
	var first error
	for _, name := range names {
		err := a.checkName(id, name, c)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return c.explain(id, first)
}

// checkName returns why a policy denies a skill by its name.
func (a *Admission) checkName(id pack.ID, name string, c Candidates) error {
	if c.Machine || !slices.ContainsFunc(a.policies, (*policy.Policy).RestrictsSkills) {
		return nil
	}
	notes, err := a.policies.Skill([]string{name, c.Names[pack.SkillKey{Pack: id, Skill: name}]}, id.String())
	a.Fetcher.Gate.Note(notes...)
	return err
}

// admit decides about one pack, and returns who signed it.
func (a *Admission) admit(ctx context.Context, sol *solve.Solution, c Candidates, id pack.ID, demands []demand,
) (v verdict, err error) {
	locked, gate := c.Packs[id], a.Fetcher.Gate
	if c.Linked(id) || fetch.IsDirectory(locked.Source) {
		return v, a.admitDirectory(id, c.source(id), demands)
	}
	p, err := a.Fetcher.Pinned(ctx, c.Manifest, id, locked)
	if err == nil {
		err = gate.Allow(p.Ref)
	}
	if err != nil {
		return v, err
	}
	ctx = gate.Watch(ctx, p.Ref.Kind)
	if a.policies.Restricts() {
		check := func() error { return a.checkOrigin(ctx, p, locked) }
		if err := a.checkOrFetch(ctx, sol, p, locked, check); err != nil {
			return v, err
		}
	}
	if err := a.checkAge(ctx, c, p, locked); err != nil {
		return v, err
	}
	for _, d := range demands {
		var found []string
		err := a.checkOrFetch(ctx, sol, p, locked, func() (err error) {
			found, err = a.Fetcher.Verifier.Signers(ctx, p, locked.Skills, d.signers)
			return err
		})
		switch {
		case err != nil && d.optional && diag.CodeOf(err) == diag.Denied:
		case err != nil && d.observed() && diag.CodeOf(err) != diag.Interrupted:
			gate.NoteError(d.refused(err))
		case err != nil:
			return verdict{}, d.refused(err)
		default:
			v.vouched = v.vouched || d.rule != nil && !d.observed()
			if slices.Contains(found, locked.Signer) {
				v.signer = locked.Signer
			} else if v.signer == "" && len(found) > 0 {
				v.signer = found[0]
			} else if v.signer == "" {
				v.signer = locked.Signer
			}
		}
	}
	if v.signer == "" {
		v.signer = a.lockedSigner(id, locked)
	}
	return v, nil
}

// lockedSigner returns the signer that a lock goes on to record if nobody has to look.
func (a *Admission) lockedSigner(id pack.ID, locked *pack.LockedPack) string {
	if slices.Contains(a.Signing.Accept, id) && !a.unchanged(id, locked) {
		return ""
	}
	return locked.Signer
}

// unchanged reports whether a pack is what the previous lock had of it.
func (a *Admission) unchanged(id pack.ID, locked *pack.LockedPack) bool {
	was, ok := a.Previous.Packs[id]
	return ok && was.Source == locked.Source && was.Resolved == locked.Resolved && was.Version == locked.Version
}

// admitDirectory is admit for a directory of this machine, which has neither signatures nor an age.
func (a *Admission) admitDirectory(id pack.ID, source string, demands []demand) error {
	for _, d := range demands {
		err := d.refused(&trust.UnsignedError{Pack: id.String(), Reason: "a directory does not have signatures"})
		if !d.observed() {
			return err
		}
		a.Fetcher.Gate.NoteError(err)
	}
	noAge := func(by policy.Rule) error {
		return diag.Errorf(diag.Denied, "%s: %s comes from a directory, which does not have a release age", by, id).
			WithHint("install a published release of the pack")
	}
	if age, by := a.policies.ObservedAge(source); age > 0 {
		a.Fetcher.Gate.NoteError(noAge(by))
	}
	if age, by := a.policies.Age(source); age > 0 {
		return noAge(by)
	}
	return nil
}

// checkOrFetch calls a check of what a lock has of a pack. If the check fails because this machine did not fetch the
// pack, it fetches it, and checks again.
func (a *Admission) checkOrFetch(ctx context.Context, sol *solve.Solution, p *pack.Pack, locked *pack.LockedPack,
	check func() error,
) error {
	err := check()
	if _, unknown := errors.AsType[*trust.UnknownTreesError](err); !unknown {
		return err
	}
	names := fetch.LockedSkills(locked)
	opened, ok := sol.Packs[p.ID]
	if !ok {
		if opened, err = a.Fetcher.Open(pack.WithSkills(ctx, names), p.Ref); err != nil {
			return err
		}
		if err := fetch.SameVersion(p.ID, locked, opened); err != nil {
			return err
		}
	}
	if opened.Ref.Digest != p.Ref.Digest {
		what := p.ID.String() + " at " + p.Ref.Source()
		return &bundle.MismatchError{What: what, Want: p.Ref.Digest, Got: opened.Ref.Digest}
	}
	got, err := a.Fetcher.Fetch(ctx, opened, names, locked.Skills)
	if err == nil {
		err = a.Fetcher.Verifier.Record(p, got.Trees) // a manifest may name the source otherwise
	}
	if err != nil {
		return err
	}
	return check()
}

// checkOrigin checks that the source that the lock names has the trees that it names. It records what it found where
// projects can't write.
func (a *Admission) checkOrigin(ctx context.Context, p *pack.Pack, locked *pack.LockedPack) error {
	what := fmt.Sprintf("origin %s@%s %s %s %s %s",
		p.ID, locked.Version, p.Ref.Source(), p.Ref.URL, locked.Resolved, locked.Integrity)
	if _, known, err := a.Seen.Lookup(what); known && err == nil {
		return nil
	}
	if err := a.Fetcher.Verifier.Origin(ctx, p, locked.Skills); err != nil {
		return err
	}
	_ = a.Seen.Set(what, a.Seen.Now().UTC()) // it only saves time
	return nil
}

// Recheck checks the signatures of the packs whose signers the lock records, and returns what is wrong, by pack. It
// fetches signatures that are not on this machine.
func (a *Admission) Recheck(ctx context.Context, m *pack.Manifest) (map[pack.ID]error, error) {
	wrong := map[pack.ID]error{}
	c := Candidates{Manifest: m, Packs: a.Previous.Packs, Linked: NotLinked}
	sol := &solve.Solution{Lock: a.Previous.Clone(), Packs: map[pack.ID]*pack.Pack{}}
	for _, id := range c.ids() {
		locked := a.Previous.Packs[id]
		if locked.Signer == "" {
			continue
		}
		w, err := trust.LockedSigner(locked.Signer)
		if err == nil {
			_, err = a.admit(ctx, sol, c, id, []demand{{signers: w, before: locked, pack: id, version: locked.Version}})
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			wrong[id] = err
		}
	}
	return wrong, nil
}
