package provider

import (
	"context"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
)

// admitAge refuses a release that is younger than a policy allows, whether or not a lock has it. What nobody knows the
// age of is as old as this machine knows it, by its digest: a tag can be moved. What policies that only observe would
// refuse is noted.
func (pr *Provider) admitAge(ctx context.Context, p *pack.Pack, entry *pack.LockedPack) error {
	if age, by := pr.policies.ObservedAge(entry.Source); age > 0 {
		if err := pr.oldEnough(ctx, p, entry, age, by); err != nil {
			pr.note(err.Error() + " (the policy only observes)")
		}
	}
	age, by := pr.policies.Age(entry.Source)
	if age == 0 {
		return nil
	}
	return pr.oldEnough(ctx, p, entry, age, by)
}

// oldEnough refuses a release that is not as old as a rule wants it.
func (pr *Provider) oldEnough(ctx context.Context, p *pack.Pack, entry *pack.LockedPack, age time.Duration, by policy.Rule) error {
	now := pr.options.Now()
	exactly := p.Ref.Source() + "@" + p.Ref.Digest
	since, known, err := pr.sighted(exactly)
	if err != nil {
		return err
	}
	if known && now.Sub(since) >= age {
		return nil
	}
	since, ok := pr.publishedAt(ctx, p, entry)
	if ok && now.Sub(since) >= age {
		_ = pr.notice(exactly, since) // it only saves asking again
		return nil
	}
	if !ok {
		if since, err = pr.firstSight(exactly); err != nil {
			return err
		}
	}
	return diag.Errorf(diag.Denied, "%s: %s %s is known since %s, and must be so for %s",
		by, p.ID, p.Version, since.UTC().Format(time.RFC3339), ageText(age)).
		WithHint("wait until %s, or choose an older version", since.Add(age).UTC().Format(time.RFC3339))
}

// publishedAt returns when the registry of a pack says that a version was published.
func (pr *Provider) publishedAt(ctx context.Context, p *pack.Pack, entry *pack.LockedPack) (time.Time, bool) {
	if d, ok := pr.direct[p.ID]; ok && d.Ref != nil {
		return time.Time{}, false
	}
	reg, err := pr.findLocked(ctx, p.ID, entry.Source)
	if err != nil || pr.projects[reg.Name()] { // a project could bring an index with any date along
		return time.Time{}, false
	}
	versions, err := reg.Versions(ctx, p.ID)
	if err != nil {
		return time.Time{}, false
	}
	for _, v := range versions {
		if v.Version == p.Version && v.Source == entry.Source && (v.Digest == "" || v.Digest == entry.Resolved) {
			since, err := time.Parse(time.RFC3339, v.Published)
			return since, err == nil
		}
	}
	return time.Time{}, false
}
