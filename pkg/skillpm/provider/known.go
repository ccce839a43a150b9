package provider

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// Of releases whose age nobody says, it counts how long this machine has known the content, by its digest: a tag can be
// moved to another content at any time, so how long the tag is there says nothing.

// mostPinned is of how many versions of a place it is asked which digests they have. Of others that is asked when one
// of them is chosen.
const mostPinned = 32

// pinner is a fetcher that can say what a tag leads to, without opening it.
type pinner interface {
	Pin(ctx context.Context, ref pack.Ref) (digest string, err error)
}

// Pin returns the digest or commit that a tag leads to.
func (g guarded) Pin(ctx context.Context, ref pack.Ref) (string, error) {
	if p, ok := g.next.(pinner); ok {
		return p.Pin(g.pr.watched(ctx, ref.Kind), ref)
	}
	return "", nil
}

// pin is Pin for a place, asked once. Where it fails it returns "": whoever opens the place is told why.
func (pr *Provider) pin(ctx context.Context, ref pack.Ref) string {
	key := ref.Source() + " " + ref.Rev + " " + ref.Constraint
	pr.pinsMu.Lock()
	digest, known := pr.pins[key]
	pr.pinsMu.Unlock()
	if known {
		return digest
	}
	from, err := pr.from(ref)
	if err != nil {
		return ""
	}
	p, ok := from.(pinner)
	if !ok {
		return ""
	}
	digest, err = p.Pin(ctx, anchored(pr.root, ref))
	if err != nil {
		return ""
	}
	pr.pinsMu.Lock()
	defer pr.pinsMu.Unlock()
	if pr.pins == nil {
		pr.pins = map[string]string{}
	}
	pr.pins[key] = digest
	return digest
}

// ageVersions withholds those of some versions, those first that are likely chosen, whose content this machine has not
// known for long enough.
func (pr *Provider) ageVersions(ctx context.Context, at string, versions []*resolve.Version, least leastAge, digestOf func(ctx context.Context, version string) string) error {
	versions = versions[:min(len(versions), mostPinned)]
	digests := make([]string, len(versions))
	group, asked := errgroup.WithContext(ctx)
	group.SetLimit(parallelOffers)
	for i, v := range versions {
		group.Go(func() error {
			digests[i] = digestOf(asked, v.Version)
			return nil
		})
	}
	_ = group.Wait() // nothing in it fails
	for i, v := range versions {
		if digests[i] == "" {
			continue // it is looked at again when it is chosen
		}
		since, err := pr.firstSight(at + "@" + digests[i])
		if err != nil {
			return err
		}
		v.Withheld = pr.young(since, least)
	}
	return nil
}

// offeredDigest returns the digest of a version that a registry offers, "" where that can't be known without fetching
// it.
func (pr *Provider) offeredDigest(ctx context.Context, id pack.ID, o *offer, v registry.Version) string {
	if v.Digest != "" {
		return v.Digest
	}
	ref, err := pack.Parse(v.Source)
	if err == nil && ref.Kind == pack.KindOCI {
		return pr.pin(ctx, atVersion(ref, v.Version))
	}
	p, err := o.registry.Pack(ctx, id, v.Version)
	if err != nil {
		return ""
	}
	return p.Ref.Digest
}

// checkAge refuses what was chosen if its content has not been known for long enough, as where a tag was moved.
func (pr *Provider) checkAge(id pack.ID, pick resolve.Chosen, p *pack.Pack) error {
	least := pr.leastAge(p.Ref.Source())
	if least.age == 0 || p.Ref.Digest == "" || pick.Source != "" && !open(pr.refs[pick.Source]) {
		return nil // which placeVersions looked at
	}
	if v, ok := pr.Offer(id, p.Version); ok && pick.Source == "" {
		if _, err := time.Parse(time.RFC3339, v.Published); err == nil {
			return nil // which offered looked at
		}
	}
	if was, ok := pr.lock.Packs[id]; ok && least.in == pr.minAgeIn && was.Resolved == p.Ref.Digest && was.Source == p.Ref.Locked(p.Version) {
		return nil // the settings trust the lock
	}
	since, err := pr.firstSight(p.Ref.Source() + "@" + p.Ref.Digest)
	if err != nil {
		return err
	}
	reason := pr.young(since, least)
	if reason == "" {
		return nil
	}
	code := diag.Denied
	if least.in == pr.minAgeIn {
		code = diag.NotFound
	}
	return diag.Errorf(code, "%s %s as it is now (%s, known since %s) %s", id, p.Version, p.Ref.Digest, since.UTC().Format(time.RFC3339), reason).
		WithHint("a release that is new, or a tag that was moved: wait until %s, or choose an older version", since.Add(least.age).UTC().Format(time.RFC3339))
}

// inOrder puts the versions first that the manifest allows, and of them the highest.
func (pr *Provider) inOrder(id pack.ID, versions []*resolve.Version) {
	d, direct := pr.direct[id]
	allowed := make(map[string]bool, len(versions))
	parsed := make(map[string]*semver.Version, len(versions))
	for _, v := range versions {
		if p, err := semver.StrictNewVersion(v.Version); err == nil {
			parsed[v.Version] = p
		}
		ok, err := pack.Allows(d, v.Version)
		allowed[v.Version] = !direct || err == nil && ok
	}
	slices.SortStableFunc(versions, func(a, b *resolve.Version) int {
		x, y := parsed[a.Version], parsed[b.Version]
		if allowed[a.Version] != allowed[b.Version] {
			if allowed[a.Version] {
				return -1
			}
			return 1
		}
		if x == nil || y == nil {
			return strings.Compare(a.Version, b.Version)
		}
		return y.Compare(x)
	})
}
