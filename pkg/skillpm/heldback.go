package skillpm

import (
	"cmp"
	"context"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/pack"
)

// heldBack returns the packs that an update could not move to the newest version, or away from one that was withdrawn,
// and what holds them. Nobody is asked anew.
func (w *work) heldBack(ctx context.Context, t *target, ids []pack.ID, o UpdateOptions, io InstallOptions) []OutdatedPack {
	held := []OutdatedPack{}
	for _, id := range ids {
		now, locked := t.Lock.Packs[id]
		if !locked {
			continue
		}
		d, direct := t.manifest.Dependency(id)
		p := OutdatedPack{Pack: id.String(), Current: now.Version, Wanted: now.Version, Latest: now.Version, Source: now.Source, Direct: direct}
		if slices.Contains(io.held, id) {
			p.Edited = true
			held = append(held, p)
			continue
		}
		asked := pack.Dependency{ID: id, Ref: d.Ref}
		if o.Latest && d.Ref != nil && releaseTag(d) {
			ref := *d.Ref
			ref.Rev, ref.Digest = "", ""
			asked.Ref = &ref
		}
		versions, err := w.Backend.Known(ctx, asked)
		if latest, ok := highestOf(versions, now.Version); err == nil && ok && higher(latest.Version, now.Version) {
			p.Latest, p.Withheld = latest.Version, latest.Withheld
			p.HeldBy = holdersIn(t.manifest, t.Lock, id, latest.Version)
		}
		if offer, ok := w.Backend.Offer(id, now.Version); ok && offer.Yanked {
			p.Withdrawn = cmp.Or(offer.Reason, "no reason given")
		}
		if p.Latest != p.Current || p.Withdrawn != "" {
			held = append(held, p)
		}
	}
	return held
}

// holdersIn returns what requires a locked pack and does not allow a version.
func holdersIn(m *pack.Manifest, l *pack.Lock, id pack.ID, version string) []Requirer {
	var held []Requirer
	if d, ok := m.Dependency(id); ok && !allows(d, version) {
		held = append(held, Requirer{By: pack.ManifestName, Range: requirement(d)})
	}
	for _, by := range l.IDs() {
		deps, _ := l.Packs[by].Requires() // one that can't be read was told when it was solved
		for _, d := range deps {
			if d.ID == id && !allows(d, version) {
				held = append(held, Requirer{By: by.String(), Range: requirement(d)})
			}
		}
	}
	return held
}

// higher reports whether a version is a higher release than another. Between commits there is no order.
func higher(version, than string) bool {
	if pinned(version) || pinned(than) {
		return false
	}
	a, errA := semver.StrictNewVersion(version)
	b, errB := semver.StrictNewVersion(than)
	return errA == nil && errB == nil && a.GreaterThan(b)
}
