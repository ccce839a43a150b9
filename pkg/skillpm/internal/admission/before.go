package admission

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/solve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// before returns what the lock has of a pack, and what this machine has installed of it: a lock that somebody turned
// back is a downgrade, too.
func (a *Admission) before(id pack.ID) (list []workspace.InstalledPack) {
	if was := a.Previous.Packs[id]; was != nil {
		list = append(list, workspace.InstalledPack{Version: was.Version, Signer: was.Signer, Resolved: was.Resolved})
	}
	if was, ok := a.Installed(id); ok {
		list = append(list, was)
	}
	return list
}

// checkDowngrade refuses a version that is older than the one that it replaces.
func (a *Admission) checkDowngrade(id pack.ID, c Candidates) error {
	if len(a.policies) == 0 || c.Linked(id) || c.Machine {
		return nil
	}
	now := c.Packs[id].Version
	for _, was := range a.before(id) {
		if older(now, was.Version) {
			return a.downgrade(id.String() + " " + now + " in place of " + was.Version)
		}
	}
	return nil
}

// checkSignerChange refuses a pack that another signer signed than the one that it replaces, unless a policy itself
// requires its signer: that is how a policy accepts another signer.
func (a *Admission) checkSignerChange(id pack.ID, locked *pack.LockedPack, v verdict) error {
	if len(a.policies) == 0 || v.vouched {
		return nil
	}
	for _, was := range a.before(id) {
		same := was.Resolved == locked.Resolved && was.Version == locked.Version
		if was.Signer == "" || trust.SameSigner(was.Signer, v.signer) || same {
			continue
		}
		by := cmp.Or(trust.Fingerprint(v.signer), "an unknown signer")
		return a.downgrade(id.String() + " " + locked.Version + ", signed by " + by +
			", in place of " + was.Version + ", signed by " + trust.Fingerprint(was.Signer) + ",")
	}
	return nil
}

func (a *Admission) downgrade(what string) error {
	notes, err := a.Evaluator.CheckDowngrade(what)
	a.Fetcher.Gate.Note(notes...)
	return err
}

// older reports whether a version is a lower release than another. Commits have no order.
func older(version, than string) bool {
	if strings.HasPrefix(version, "0.0.0-") || strings.HasPrefix(than, "0.0.0-") {
		return false
	}
	a, errA := semver.StrictNewVersion(version)
	b, errB := semver.StrictNewVersion(than)
	return errA == nil && errB == nil && a.LessThan(b)
}

// ForbidsDowngrades reports whether an enforced policy allows no older version in place of a newer one.
func (a *Admission) ForbidsDowngrades() bool {
	_, err := a.Evaluator.CheckDowngrade("")
	return len(a.policies) > 0 && err != nil
}

// checkAge refuses a release that is younger than a policy allows, whether or not a lock has it.
func (a *Admission) checkAge(ctx context.Context, c Candidates, p *pack.Pack, locked *pack.LockedPack) error {
	if age, by := a.policies.ObservedAge(locked.Source); age > 0 {
		if err := a.oldEnough(ctx, c, p, locked, age, by); err != nil {
			a.Fetcher.Gate.NoteError(err)
		}
	}
	age, by := a.policies.Age(locked.Source)
	if age == 0 {
		return nil
	}
	return a.oldEnough(ctx, c, p, locked, age, by)
}

// oldEnough refuses a release that is younger than a rule allows. If nobody knows its age, it is as old as this machine
// knows it, by its digest: a tag can be moved.
func (a *Admission) oldEnough(ctx context.Context, c Candidates, p *pack.Pack, locked *pack.LockedPack,
	age time.Duration, by policy.Rule,
) error {
	now := a.Seen.Now()
	digest := p.Ref.Source() + "@" + p.Ref.Digest
	since, known, err := a.Seen.Lookup(digest)
	if err != nil {
		return err
	}
	if known && now.Sub(since) >= age {
		return nil
	}
	since, ok := a.publishedAt(ctx, c, p, locked)
	if ok && now.Sub(since) >= age {
		_ = a.Seen.Set(digest, since) // it only saves asking again
		return nil
	}
	if !ok {
		if since, err = a.Seen.First(digest); err != nil {
			return err
		}
	}
	return diag.Errorf(diag.Denied, "%s: skillpm first saw %s %s at %s; the minimum release age is %s",
		by, p.ID, p.Version, since.UTC().Format(time.RFC3339), solve.AgeText(age)).
		WithHint("wait until %s, or choose an older version", since.Add(age).UTC().Format(time.RFC3339))
}

// publishedAt returns when the registry of a pack says that a version was published.
func (a *Admission) publishedAt(ctx context.Context, c Candidates, p *pack.Pack, locked *pack.LockedPack,
) (time.Time, bool) {
	if d, ok := c.Manifest.Dependency(p.ID); ok && d.Ref != nil {
		return time.Time{}, false
	}
	registries := a.Fetcher.Registries
	reg, err := registries.Find(ctx, p.ID, locked.Source)
	if err != nil || !registries.Dated(reg.Name()) {
		return time.Time{}, false
	}
	versions, err := reg.Versions(ctx, p.ID)
	if err != nil {
		return time.Time{}, false
	}
	for _, v := range versions {
		same := v.Source == locked.Source && (v.Digest == "" || v.Digest == locked.Resolved)
		if v.Version == p.Version && same {
			since, err := time.Parse(time.RFC3339, v.Published)
			return since, err == nil
		}
	}
	return time.Time{}, false
}
