package provider

import (
	"cmp"
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
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/resolve"
	"github.com/skillpm/skillpm/pkg/source"
)

// tooYoung begins the reason why a release that is too young is withheld.
const tooYoung = "is younger than the minimum release age of "

// offered turns an offer into what the resolver chooses from. Releases that are younger than the least age are withheld.
func (pr *Provider) offered(o *offer) ([]resolve.Version, error) {
	versions := make([]resolve.Version, len(o.versions))
	for i, v := range o.versions {
		versions[i] = resolve.Version{Version: v.Version, Yanked: v.Yanked, Published: v.Published}
		if pr.minAge == 0 || v.Yanked {
			continue
		}
		since, err := time.Parse(time.RFC3339, v.Published)
		if err != nil { // the registry does not say: from when on this machine knows it
			since, err = pr.firstSight(v.Source + "@" + cmp.Or(v.Digest, v.Version))
		}
		if err != nil {
			return nil, err
		}
		versions[i].Withheld = pr.young(since)
	}
	return versions, nil
}

// young says why a release is withheld that is there since a time, "" if it is old enough.
func (pr *Provider) young(since time.Time) string {
	if pr.options.Now().Sub(since) >= pr.minAge {
		return ""
	}
	return tooYoung + ageText(pr.minAge)
}

// agedAt withholds what a place offers and this machine has not known for long enough. Nobody but its author says how old
// something at a place is, so that does not count. Who names a digest or a commit has chosen it.
func (pr *Provider) agedAt(ref source.Ref, versions []resolve.Version, p *source.Pack) ([]resolve.Version, error) {
	if pr.minAge == 0 || !remote(ref) && ref.Kind != source.KindGit && ref.Kind != source.KindLayout || ref.Digest != "" {
		return versions, nil
	}
	for i, v := range versions {
		what := v.Version
		if p != nil {
			if what = p.Ref.Digest; what == ref.Rev {
				return versions, nil
			}
		}
		since, err := pr.firstSight(ref.Source() + "@" + what)
		if err != nil {
			return nil, err
		}
		versions[i].Withheld = pr.young(since)
	}
	return versions, nil
}

// aged has the error of a conflict over releases that are too young say which setting keeps them away.
func (pr *Provider) aged(err error) error {
	conflict, ok := errors.AsType[*resolve.ConflictError](err)
	if !ok || pr.minAge == 0 {
		return err
	}
	young := func(w resolve.Withheld) bool { return strings.HasPrefix(w.Reason, tooYoung) }
	found := slices.ContainsFunc(conflict.Withheld, young)
	for _, d := range conflict.Disputed {
		found = found || len(d.Left) == 0 && slices.ContainsFunc(d.Withheld, young)
	}
	if !found {
		return err
	}
	return diag.Errorf(diag.CodeOf(err), "%w", err).
		WithHint("wait until a release is old enough, or change min-release-age in %s", pr.minAgeIn)
}

// longest returns the longest of the minimum release ages that are set, and which file says so.
func longest(admin, user, manifest time.Duration) (age time.Duration, in string) {
	switch age = max(admin, user, manifest); age {
	case manifest:
		return age, project.ManifestName
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

// firstSight returns when this machine saw something first: now, if it never did. A record in the future stays as it is,
// because a clock that is set back for a while must not make a release older than it is; one that no right clock can have
// written does not count.
func (pr *Provider) firstSight(what string) (time.Time, error) {
	sum := sha256.Sum256([]byte(what))
	file := filepath.Join(pr.machine.Paths.State, "seen", hex.EncodeToString(sum[:16]))
	now := pr.options.Now().UTC()
	data, err := os.ReadFile(file)
	if err == nil {
		seen, err := time.Parse(time.RFC3339, strings.TrimSpace(string(data)))
		if err == nil && !seen.Before(unset()) && seen.Sub(now) < absurd {
			return seen, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return now, fmt.Errorf("the record of when releases were first seen: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return now, diag.Errorf(diag.Internal, "the record of when releases were first seen: %w", err).
			WithHint("a minimum release age is set, so skillpm has to remember what it saw: make %s writable", filepath.Dir(file))
	}
	return now, os.WriteFile(file, []byte(now.Format(time.RFC3339)+"\n"), 0o644)
}
