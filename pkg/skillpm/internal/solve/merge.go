package solve

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
)

// MergeLocks merges the lockfiles of two branches for the manifest that resulted from merging theirs. Every entry is an
// entry of one side, so that digests of both never mix. It is the lock that a new solution starts from: what the
// manifest still allows of both sides stays.
//
// Of a pack that both sides changed differently, it takes the version with which the requirements of the manifest and
// of the other entries are met, preferably the higher one. The same version with different content on both sides is an
// error with code [diag.Integrity]: no rule can choose between the two.
func MergeLocks(ctx context.Context, m *pack.Manifest, base, ours, theirs *pack.Lock) (*pack.Lock, error) {
	merged, _ := pack.MergeLocks(base, ours, theirs)
	sides := &twoLocks{entries: map[pack.ID][]*pack.LockedPack{}, refs: map[string]pack.Ref{}}
	for _, l := range []*pack.Lock{ours, theirs} {
		for _, id := range l.IDs() {
			if err := sides.add(id, base.Packs[id], l.Packs[id]); err != nil {
				return nil, err
			}
		}
	}
	prefer := map[pack.ID]string{}
	for id, entries := range sides.entries {
		if p, ok := merged.Packs[id]; ok && len(entries) == 2 && changedOnce(id, base, ours, theirs) {
			prefer[id] = p.Version
		} else {
			merged.Packs[id] = highestEntry(entries)
		}
	}
	roots := sides.requirements(append(append([]pack.Dependency{}, m.Dependencies...), m.DevDependencies...))
	chosen, err := resolve.Resolve(ctx, roots, sides, resolve.Options{Prefer: prefer})
	switch code := diag.CodeOf(err); {
	case code == diag.Conflict || code == diag.NotFound:
		return merged, nil // the registries may have other versions
	case err != nil:
		return nil, err
	}
	for id, c := range chosen {
		for _, p := range sides.entries[id] {
			if p.Version == c.Version {
				merged.Packs[id] = p
			}
		}
	}
	return merged, nil
}

// changedOnce reports whether only one side changed a pack.
func changedOnce(id pack.ID, base, ours, theirs *pack.Lock) bool {
	was, ok := base.Packs[id]
	return ok && was.Equal(ours.Packs[id]) != was.Equal(theirs.Packs[id])
}

// highestEntry returns the entry with the highest version; the first one if they have no order.
func highestEntry(entries []*pack.LockedPack) *pack.LockedPack {
	best := entries[0]
	for _, p := range entries[1:] {
		a, errA := semver.StrictNewVersion(best.Version)
		b, errB := semver.StrictNewVersion(p.Version)
		if errA == nil && errB == nil && b.GreaterThan(a) {
			best = p
		}
	}
	return best
}

// twoLocks answers the solver's questions from the lockfiles of two branches.
type twoLocks struct {
	entries map[pack.ID][]*pack.LockedPack // one for each version
	refs    map[string]pack.Ref            // sources by their text
}

// add adds the entry of one side. Of two with the same version, it keeps one; see [isBetterEntry].
func (l *twoLocks) add(id pack.ID, base, p *pack.LockedPack) error {
	for i, other := range l.entries[id] {
		if p.Version != other.Version {
			continue
		}
		if err := checkSameContent(id, base, other, p); err != nil {
			return err
		}
		if isBetterEntry(base, p, other) {
			l.entries[id][i] = p
		}
		return nil
	}
	l.entries[id] = append(l.entries[id], p)
	return nil
}

// isBetterEntry reports whether one of two entries with the same content is to be kept: that with more skills, or else
// that which its side changed, such as by moving the pack to another source. It does not depend on which side is ours.
func isBetterEntry(base, p, other *pack.LockedPack) bool {
	switch {
	case len(p.Skills) != len(other.Skills):
		return len(p.Skills) > len(other.Skills)
	case base != nil && base.Equal(p) != base.Equal(other):
		return base.Equal(other)
	}
	return cmp.Or(strings.Compare(p.Source, other.Source), strings.Compare(p.Resolved, other.Resolved)) < 0
}

// checkSameContent returns an error if two entries with the same version have different content, whatever their sources
// are, or if both sides changed the digest at one source. The content of a directory can change without a new version.
func checkSameContent(id pack.ID, base, ours, theirs *pack.LockedPack) error {
	if fetch.IsDirectory(ours.Source) || fetch.IsDirectory(theirs.Source) {
		return nil
	}
	change := fetch.NewChange(id, ours, theirs)
	isChangedOnce := base != nil && (base.Equal(ours) || base.Equal(theirs))
	switch {
	case change != nil:
	case ours.Source != theirs.Source, ours.Resolved == theirs.Resolved, isChangedOnce:
		return nil
	default:
		change = &fetch.Change{
			Locked: fetch.Content{Integrity: ours.Integrity}, Found: fetch.Content{Integrity: theirs.Integrity},
			Reason: "the digests at the source differ",
		}
	}
	describe := func(p *pack.LockedPack, c fetch.Content) string {
		return fmt.Sprintf("%s (%s at %s)", c.Integrity, p.Resolved, p.Source)
	}
	reason := ""
	if change.Reason != "" {
		reason = ": " + change.Reason
	}
	return diag.Errorf(diag.Integrity,
		"cannot merge skillpm.lock: the branches lock %s %s with different content, %s and %s%s",
		id, ours.Version, describe(ours, change.Locked), describe(theirs, change.Found), reason).
		WithHint("ask the publisher of %s which digest is right, restore the lockfile of that branch "+
			"with \"git checkout --ours skillpm.lock\" or \"git checkout --theirs skillpm.lock\", and run: skillpm install", id)
}

// requirements returns dependencies in the solver's form, and remembers their sources.
func (l *twoLocks) requirements(deps []pack.Dependency) []resolve.Requirement {
	reqs := make([]resolve.Requirement, len(deps))
	for i, d := range deps {
		src := SourceText(d)
		if d.Ref != nil {
			l.refs[src] = *d.Ref
		}
		reqs[i] = resolve.Requirement{Pack: d.ID, Constraint: d.Constraint, Source: src}
	}
	return reqs
}

// Versions returns the versions of a pack that the sides have from a source.
func (l *twoLocks) Versions(_ context.Context, id pack.ID, src string) ([]resolve.Version, error) {
	var versions []resolve.Version
	for _, p := range l.entries[id] {
		ref, placed := l.refs[src]
		if !placed || p.IsFrom(ref) {
			versions = append(versions, resolve.Version{Version: p.Version})
		}
	}
	if len(versions) == 0 {
		return nil, diag.Errorf(diag.NotFound, "neither branch has locked %s", id)
	}
	return versions, nil
}

// Requirements returns what an entry requires.
func (l *twoLocks) Requirements(_ context.Context, id pack.ID, _, version string) ([]resolve.Requirement, error) {
	for _, p := range l.entries[id] {
		if p.Version == version {
			deps, err := p.Requires()
			return l.requirements(deps), err
		}
	}
	return nil, diag.Errorf(diag.NotFound, "neither branch has locked %s %s", id, version)
}
