package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// tooYoung begins the reason why a release that is too young is withheld.
const tooYoung = "is younger than the minimum release age of "

// offered turns an offer into what the resolver chooses from. Releases that are younger than the least age are
// withheld.
func (pr *Provider) offered(ctx context.Context, id pack.ID, o *offer) ([]resolve.Version, error) {
	versions := make([]resolve.Version, len(o.versions))
	unsaid := map[string][]*resolve.Version{} // by source: those whose registry does not say when they were published
	listed := map[string]registry.Version{}
	for i, v := range o.versions {
		versions[i] = resolve.Version{Version: v.Version, Yanked: v.Yanked, Reason: v.Reason, Published: v.Published, Withheld: pr.withheldAt(v.Source)}
		least := pr.leastAge(v.Source)
		if least.age == 0 || v.Yanked || versions[i].Withheld != "" {
			continue
		}
		if since, err := time.Parse(time.RFC3339, v.Published); err == nil {
			versions[i].Withheld = pr.young(since, least)
			continue
		}
		unsaid[v.Source] = append(unsaid[v.Source], &versions[i])
		listed[v.Source+" "+v.Version] = v
	}
	for at, list := range unsaid {
		pr.inOrder(id, list)
		digest := func(ctx context.Context, version string) string {
			return pr.offeredDigest(ctx, id, o, listed[at+" "+version])
		}
		if err := pr.ageVersions(ctx, at, list, pr.leastAge(at), digest); err != nil {
			return nil, err
		}
	}
	return versions, nil
}

// leastAge is how old a release must be, and who says so.
type leastAge struct {
	age time.Duration
	in  string // the file, with a line if it is a policy's
}

// leastAge returns the longest of the ages that are asked of releases at a source.
func (pr *Provider) leastAge(at string) leastAge {
	if len(pr.policies) > 0 {
		if age, by := pr.policies.Age(at); age > pr.minAge {
			return leastAge{age, by.String()}
		}
	}
	return leastAge{pr.minAge, pr.minAgeIn}
}

// young says why a release is withheld that is there since a time, "" if it is old enough.
func (pr *Provider) young(since time.Time, least leastAge) string {
	if pr.options.Now().Sub(since) >= least.age {
		return ""
	}
	text := tooYoung + ageText(least.age)
	if least.in != pr.minAgeIn {
		text += " in " + least.in
	}
	return text
}

// isRefused begins the reason why a release is withheld that a policy does not allow.
const isRefused = "is not allowed: "

// withheldAt says why releases at a source are withheld whatever their age, "" if they are not.
func (pr *Provider) withheldAt(at string) string {
	if _, err := pr.policies.Source(at); err != nil && at != "" {
		return isRefused + err.Error()
	}
	return ""
}

// agedAt withholds what a place offers and this machine has not known for long enough. Nobody but its author says how
// old something at a place is, so that does not count. Who names a digest or a commit has chosen it.
func (pr *Provider) agedAt(ctx context.Context, id pack.ID, ref pack.Ref, versions []resolve.Version, p *pack.Pack) ([]resolve.Version, error) {
	least := pr.leastAge(ref.Source())
	chosen := least.in == pr.minAgeIn && (ref.Digest != "" || p != nil && p.Ref.Digest == ref.Rev)
	if least.age == 0 || !remote(ref) && ref.Kind != pack.KindGit && ref.Kind != pack.KindLayout || chosen {
		return versions, nil
	}
	list := make([]*resolve.Version, 0, len(versions))
	for i := range versions {
		if !versions[i].Yanked {
			list = append(list, &versions[i])
		}
	}
	pr.inOrder(id, list)
	return versions, pr.ageVersions(ctx, ref.Source(), list, least, func(ctx context.Context, version string) string {
		if p != nil {
			return p.Ref.Digest
		}
		return pr.pin(ctx, atVersion(ref, version))
	})
}

// withheld has the error of a conflict over releases that are withheld say who keeps them away. Where that is a policy,
// it is a denial.
func (pr *Provider) withheld(err error) error {
	conflict, ok := errors.AsType[*resolve.ConflictError](err)
	if !ok {
		return err
	}
	var reasons []string
	for _, w := range conflict.Withheld {
		reasons = append(reasons, w.Reason)
	}
	for _, d := range conflict.Disputed {
		for _, w := range d.Withheld {
			if len(d.Left) == 0 {
				reasons = append(reasons, w.Reason)
			}
		}
	}
	is := func(start string, policy bool) bool {
		return slices.ContainsFunc(reasons, func(r string) bool {
			return strings.HasPrefix(r, start) && (!policy || strings.Contains(r, " in "))
		})
	}
	switch {
	case is(isRefused, false):
		return diag.Errorf(diag.Denied, "%w", err).WithHint("ask whoever keeps the policy, or require another pack")
	case is(tooYoung, true):
		return diag.Errorf(diag.Denied, "%w", err).WithHint("wait until a release is old enough, or ask whoever keeps the policy")
	case is(tooYoung, false):
		return diag.Errorf(diag.CodeOf(err), "%w", err).
			WithHint("wait until a release is old enough, or change min-release-age in %s", pr.minAgeIn)
	}
	return err
}

// longest returns the longest of the minimum release ages that are set, and which file says so.
func longest(admin, user, manifest time.Duration) (age time.Duration, in string) {
	switch age = max(admin, user, manifest); age {
	case manifest:
		return age, pack.ManifestName
	case user:
		return age, "config.yaml"
	}
	return age, "the administrator's config.yaml"
}

// ageText writes a duration without the units that are nought.
func ageText(d time.Duration) string {
	text := d.String()
	for _, nought := range []string{"0s", "0m"} {
		if short := strings.TrimSuffix(text, nought); short != text && strings.IndexByte("hm", short[max(0, len(short)-1)]) >= 0 {
			text = short
		}
	}
	return text
}

// unset returns a time before there was a minimum release age: a clock that shows less is not set.
func unset() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// absurd is how far ahead of the clock no record is: it was written by one that was wrong.
const absurd = 10 * 365 * 24 * time.Hour

// firstSight returns when this machine saw something first: now, if it never did. A record in the future stays as it
// is, because a clock that is set back for a while must not make a release older than it is; one that no right clock
// can have written does not count.
func (pr *Provider) firstSight(what string) (time.Time, error) {
	now := pr.options.Now().UTC()
	if seen, ok, err := pr.sighted(what); ok || err != nil {
		return seen, err
	}
	return now, pr.notice(what, now)
}

// sightFile returns the record of when this machine saw something first.
func (pr *Provider) sightFile(what string) string {
	sum := sha256.Sum256([]byte(what))
	return filepath.Join(pr.machine.Paths.State, "seen", hex.EncodeToString(sum[:16]))
}

// sighted returns when this machine saw something first, false if it never did.
func (pr *Provider) sighted(what string) (time.Time, bool, error) {
	now := pr.options.Now().UTC()
	data, err := os.ReadFile(pr.sightFile(what))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return now, false, nil
	case err != nil:
		return now, false, fmt.Errorf("the record of when releases were first seen: %w", err)
	}
	seen, err := time.Parse(time.RFC3339, strings.TrimSpace(string(data)))
	if err == nil && !seen.Before(unset()) && seen.Sub(now) < absurd {
		return seen, true, nil
	}
	return now, false, nil
}

// notice records since when something is known.
func (pr *Provider) notice(what string, since time.Time) error {
	file := pr.sightFile(what)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return diag.Errorf(diag.Internal, "the record of when releases were first seen: %w", err).
			WithHint("a minimum release age is set, so skillpm has to remember what it saw: make %s writable", filepath.Dir(file))
	}
	return atomicfile.Write(file, []byte(since.Format(time.RFC3339)+"\n"), atomicfile.Options{})
}
