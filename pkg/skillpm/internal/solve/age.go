package solve

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// MinAge is how old a release must be.
type MinAge struct {
	Age time.Duration // 0 for any
	In  string        // the file that requires it, with a line if it is a policy's
}

// LongestAge returns the longest of the minimum release ages that are set.
func LongestAge(admin, user, manifest time.Duration) MinAge {
	switch longest := max(admin, user, manifest); longest {
	case manifest:
		return MinAge{longest, pack.ManifestName}
	case user:
		return MinAge{longest, "config.yaml"}
	default:
		return MinAge{longest, "the administrator's config.yaml"}
	}
}

// The beginnings of the reasons why releases are withheld.
const (
	tooYoung   = "is younger than the minimum release age of "
	notAllowed = "is not allowed: "
)

// minAge returns the longest of the ages that settings and policies require of releases at a source.
func (b *Backend) minAge(source string) MinAge {
	if len(b.Fetcher.Gate.Policies) > 0 {
		if age, by := b.Fetcher.Gate.Policies.Age(source); age > b.MinAge.Age {
			return MinAge{age, by.String()}
		}
	}
	return b.MinAge
}

// young returns why a release that is there since a time is withheld, "" if it is old enough.
func (b *Backend) young(since time.Time, least MinAge) string {
	if b.Seen.Now().Sub(since) >= least.Age {
		return ""
	}
	text := tooYoung + AgeText(least.Age)
	if least.In != b.MinAge.In {
		text += " in " + least.In
	}
	return text
}

// undated is a release whose publication nobody proves. It is as old as this machine knows its content, by its digest.
type undated struct {
	version *resolve.Version
	source  string
	digest  func(context.Context) string // "" if that can't be known
}

// withholdNamed returns the versions of a registry for the solver. It withholds those that policies don't allow, and
// those that are too young.
func (b *Backend) withholdNamed(ctx context.Context, id pack.ID, l *lookup) ([]resolve.Version, error) {
	versions := make([]resolve.Version, len(l.versions))
	var rest []undated
	for i, v := range l.versions {
		versions[i] = resolve.Version{Version: v.Version, Yanked: v.Yanked, Reason: v.Reason, Published: v.Published}
		if _, err := b.Fetcher.Gate.Policies.Source(v.Source); err != nil && v.Source != "" {
			versions[i].Unavailable = notAllowed + err.Error()
		}
		least := b.minAge(v.Source)
		if least.Age == 0 || v.Yanked || versions[i].Unavailable != "" {
			continue
		}
		if since, ok := publishTime(v); ok {
			versions[i].Unavailable = b.young(since, least)
			continue
		}
		rest = append(rest, undated{&versions[i], v.Source, func(ctx context.Context) string {
			return b.digest(ctx, id, l.registry, v)
		}})
	}
	return versions, b.withholdUndated(ctx, id, rest)
}

// withholdPlaced is withholdNamed for a source, of which only the author says how old something is. Naming a digest or
// a commit is a choice that settings don't overrule.
func (b *Backend) withholdPlaced(ctx context.Context, id pack.ID, ref pack.Ref, l *lookup) ([]resolve.Version, error) {
	versions := make([]resolve.Version, len(l.versions))
	least := b.minAge(ref.Source())
	chosen := least.In == b.MinAge.In && (ref.Digest != "" || l.pack != nil && l.pack.Ref.Digest == ref.Rev)
	ages := least.Age > 0 && !chosen &&
		(fetch.Remote(ref) || ref.Kind == pack.KindGit || ref.Kind == pack.KindLayout)
	var rest []undated
	for i, v := range l.versions {
		versions[i] = resolve.Version{Version: v.Version}
		if l.pack == nil { // a revision that was named is taken, yanked or not
			versions[i].Yanked, versions[i].Reason = v.Yanked, v.Reason
		}
		if ages && !versions[i].Yanked {
			rest = append(rest, undated{&versions[i], ref.Source(), func(ctx context.Context) string {
				if l.pack != nil {
					return l.pack.Ref.Digest
				}
				return b.Fetcher.Pin(ctx, atVersion(ref, v.Version))
			}})
		}
	}
	return versions, b.withholdUndated(ctx, id, rest)
}

// mostPinned is of how many versions of a pack the digests are asked for, the likeliest choices first. Those of others
// are asked for when they are chosen.
const mostPinned = 32

// withholdUndated withholds versions whose content this machine has not known for long enough.
func (b *Backend) withholdUndated(ctx context.Context, id pack.ID, list []undated) error {
	if len(list) > mostPinned {
		b.sortByPreference(id, list)
		list = list[:mostPinned]
	}
	digests := make([]string, len(list))
	group, asking := bug.WithContext(ctx)
	group.SetLimit(parallelLookups)
	for i, u := range list {
		group.Go(func() error {
			digests[i] = u.digest(asking)
			return nil
		})
	}
	_ = group.Wait() // nothing in it fails
	for i, u := range list {
		if digests[i] == "" {
			continue
		}
		since, err := b.Seen.First(u.source + "@" + digests[i])
		if err != nil {
			return err
		}
		u.version.Unavailable = b.young(since, b.minAge(u.source))
	}
	return nil
}

// sortByPreference puts the versions first that the manifest allows, and of them the highest.
func (b *Backend) sortByPreference(id pack.ID, list []undated) {
	d, direct := b.direct[id]
	rank := func(u undated) int {
		if ok, err := pack.Allows(d, u.version.Version); direct && (err != nil || !ok) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(x, y undated) int {
		return cmp.Or(rank(x)-rank(y), compareVersions(y.version.Version, x.version.Version))
	})
}

// compareVersions orders versions by precedence, those that are not versions by their text.
func compareVersions(x, y string) int {
	a, errA := semver.StrictNewVersion(x)
	b, errB := semver.StrictNewVersion(y)
	if errA != nil || errB != nil {
		return strings.Compare(x, y)
	}
	return a.Compare(b)
}

// digest returns the digest of a version that a registry offers, "" if that can't be known without fetching it.
func (b *Backend) digest(ctx context.Context, id pack.ID, reg registry.Registry, v registry.Version) string {
	if v.Digest != "" {
		return v.Digest
	}
	ref, err := pack.Parse(v.Source)
	if err == nil && ref.Kind == pack.KindOCI {
		return b.Fetcher.Pin(ctx, atVersion(ref, v.Version))
	}
	p, err := reg.Pack(ctx, id, v.Version)
	if err != nil {
		return ""
	}
	return p.Ref.Digest
}

// checkAge refuses a chosen version whose content has not been known for long enough: its tag was moved, or it is one
// of those that [Backend.withholdUndated] did not ask about.
func (b *Backend) checkAge(id pack.ID, c resolve.Selection, p *pack.Pack) error {
	least := b.minAge(p.Ref.Source())
	if least.Age == 0 || p.Ref.Digest == "" || c.Source != "" && !hasReleases(b.refs[c.Source]) {
		return nil // withholdPlaced looked at it
	}
	if v, ok := b.Offer(id, p.Version); ok && c.Source == "" {
		if _, ok := publishTime(v); ok {
			return nil // withholdNamed looked at it
		}
	}
	bySettings := least.In == b.MinAge.In
	if was, ok := b.Previous.Packs[id]; ok && bySettings && was.Resolved == p.Ref.Digest &&
		was.Source == p.Ref.Locked(p.Version) {
		return nil // the settings trust the lock
	}
	since, err := b.Seen.First(p.Ref.Source() + "@" + p.Ref.Digest)
	if err != nil {
		return err
	}
	reason := b.young(since, least)
	if reason == "" {
		return nil
	}
	code := diag.Denied
	if bySettings {
		code = diag.NotFound
	}
	return diag.Errorf(code, "%s %s (%s, first seen at %s) %s",
		id, p.Version, p.Ref.Digest, since.UTC().Format(time.RFC3339), reason).
		WithHint("wait until %s, or choose an older version (the release is new, or its tag moved)",
			since.Add(least.Age).UTC().Format(time.RFC3339))
}

// explainWithheld adds to a conflict over withheld releases who withholds them. For a policy, it is a denial.
func (b *Backend) explainWithheld(err error) error {
	conflict, ok := errors.AsType[*resolve.ConflictError](err)
	if !ok {
		return err
	}
	withheld := slices.Clone(conflict.Unavailable)
	for _, d := range conflict.Disputes {
		if len(d.Matching) == 0 {
			withheld = append(withheld, d.Unavailable...)
		}
	}
	denied, young, youngByPolicy := false, false, false
	for _, w := range withheld {
		denied = denied || strings.HasPrefix(w.Reason, notAllowed)
		if strings.HasPrefix(w.Reason, tooYoung) {
			young, youngByPolicy = true, youngByPolicy || strings.Contains(w.Reason, " in ")
		}
	}
	switch {
	case denied:
		return diag.Errorf(diag.Denied, "%w", err).WithHint("ask the owner of the policy, or require another pack")
	case youngByPolicy:
		return diag.Errorf(diag.Denied, "%w", err).
			WithHint("wait until a release is old enough, or ask the owner of the policy")
	case young:
		return diag.Errorf(diag.CodeOf(err), "%w", err).
			WithHint("wait until a release is old enough, or change min-release-age in %s", b.MinAge.In)
	}
	return b.explainUnusable(err, withheld)
}

// AgeText writes a duration without the units that are zero.
func AgeText(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"0s", "0m"} {
		if short := strings.TrimSuffix(text, zero); strings.HasSuffix(short, "h") || strings.HasSuffix(short, "m") {
			text = short
		}
	}
	return text
}
