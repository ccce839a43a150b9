package solve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/fetch"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// Solution is a lock, and what was learned on the way to it.
type Solution struct {
	Lock        *pack.Lock
	Packs       map[pack.ID]*pack.Pack // those that were opened because the previous lock did not have them
	Directories map[string]string      // directories that the lock leaves out, by pack
	Warnings    []string
}

// Lock turns a manifest into a lock. It asks registries and sources, and fetches only packs whose source doesn't state
// their digests (git, foreign artifacts). The error is a [resolve.ConflictError] if requirements exclude each other.
func (b *Backend) Lock(ctx context.Context, m *pack.Manifest) (*Solution, error) {
	chosen, err := b.Choose(ctx, m)
	if err != nil {
		return nil, b.explainWithheld(b.explainFrozen(m, err))
	}
	sol, err := b.newLock(ctx, m, chosen)
	return sol, b.explainFrozen(m, err)
}

// explainFrozen returns in what manifest and lock disagree, if that is why a frozen install fails.
func (b *Backend) explainFrozen(m *pack.Manifest, err error) error {
	code := diag.CodeOf(err)
	if err == nil || !b.Frozen || code != diag.Conflict && code != diag.NotFound {
		return err
	}
	return cmp.Or(workspace.Disagreement(m, b.Previous), err)
}

// Choose chooses the versions that [Backend.Lock] would lock. It first solves with every locked pack as it is, which
// asks nobody about them. If that fails, the lock is only a preference.
func (b *Backend) Choose(ctx context.Context, m *pack.Manifest) (map[pack.ID]resolve.Selection, error) {
	required := slices.Concat(m.Dependencies, m.DevDependencies)
	for _, d := range required {
		b.direct[d.ID] = d
	}
	roots := b.requirements(required)
	prefer := map[pack.ID]string{}
	for id, p := range b.Previous.Packs {
		if !b.marks[id].fresh { // a pack that moves to another source keeps its version if it can
			prefer[id] = p.Version
		}
	}
	solve := func(sticky bool) (map[pack.ID]resolve.Selection, error) {
		b.sticky = sticky
		b.prefetch(ctx, required)
		return b.withoutUnusable(func() (map[pack.ID]resolve.Selection, error) {
			return resolve.Resolve(ctx, roots, b, resolve.Options{Prefer: prefer})
		})
	}
	chosen, err := solve(true)
	code := diag.CodeOf(err)
	switch {
	case b.Frozen && code == diag.NotFound:
		return nil, diag.Errorf(diag.Conflict, "skillpm.lock does not match skillpm.yaml: %w", err).
			WithHint("run \"skillpm install\" without --frozen, review the changes to skillpm.lock, and commit the file")
	case b.Frozen, err != nil && code != diag.Conflict && code != diag.NotFound:
		return chosen, err
	case err == nil && b.isBest(ctx, chosen):
		return chosen, nil
	}
	better, looseErr := solve(false)
	code = diag.CodeOf(looseErr)
	if err == nil && (code == diag.Remote || code == diag.NotFound || code == diag.Conflict) {
		return chosen, nil // a registry of another pack is unreachable, for example
	}
	return better, looseErr
}

// isBest reports whether every pack that is free got the best version that the manifest allows, so that moving what is
// locked gains nothing.
func (b *Backend) isBest(ctx context.Context, chosen map[pack.ID]resolve.Selection) bool {
	for id, m := range b.marks {
		c, ok := chosen[id]
		if !ok || !m.fresh {
			continue
		}
		now, err := semver.StrictNewVersion(c.Version)
		if err != nil {
			continue
		}
		versions, _ := b.Versions(ctx, id, c.Source)
		for _, v := range versions {
			other, err := semver.StrictNewVersion(v.Version)
			if err != nil || v.Yanked || v.Unavailable != "" || !other.GreaterThan(now) ||
				other.Prerelease() != "" && now.Prerelease() == "" {
				continue
			}
			if fits, err := pack.Allows(b.direct[id], v.Version); err == nil && fits {
				return false
			}
		}
	}
	return true
}

// newLock builds the lock for the chosen versions. An entry that is still right is kept as it is.
func (b *Backend) newLock(ctx context.Context, m *pack.Manifest, chosen map[pack.ID]resolve.Selection) (*Solution,
	error,
) {
	sol := &Solution{Lock: b.Previous.Clone(), Packs: map[pack.ID]*pack.Pack{}, Directories: map[string]string{}}
	maps.DeleteFunc(sol.Lock.Packs, func(id pack.ID, _ *pack.LockedPack) bool {
		_, ok := chosen[id]
		return !ok
	})
	sol.warn(b.unusableWarnings()...)
	required, err := b.requiredSkills(ctx, m, chosen)
	if err != nil {
		return nil, err
	}
	changes, err := b.lockedChanges(ctx, chosen)
	if err != nil {
		return nil, err
	}
	var fresh []*pack.Pack
	for _, id := range slices.SortedFunc(maps.Keys(chosen), pack.ID.Compare) {
		c := chosen[id]
		if c.Source == "" {
			change, err := b.CheckVersion(ctx, id)
			if err != nil {
				return nil, err
			}
			changes = appendChange(changes, change)
		}
		if locked, ok := b.lockedVersion(id, c.Source, c.Version); ok {
			if narrowed, ok := narrow(locked, required[id]); ok {
				sol.Lock.Packs[id] = narrowed
				sol.warn(b.moveWarnings(id, c.Source, locked)...)
				sol.warn(b.yankWarnings(id, locked.Version, b.versions(id))...)
				continue
			}
		}
		p, err := b.openChosen(ctx, m, id, c)
		if err != nil {
			return nil, err
		}
		sol.Packs[id] = p
		offer, _ := b.Offer(id, p.Version)
		sol.describe(m, p, offer)
		if was := b.Previous.Packs[id]; was != nil && p.Ref.Digest != "" && isLocked(was, p) {
			if narrowed, ok := narrow(was, required[id]); ok {
				sol.Lock.Packs[id] = narrowed
				continue
			}
		}
		fresh = append(fresh, p)
	}
	if err := b.lockPacks(ctx, sol, fresh, required); err != nil {
		return sol, err
	}
	for _, p := range fresh {
		now := sol.Lock.Packs[p.ID]
		changes = appendChange(changes, b.changedFrom(chosen, p, now))
		sol.warn(b.overrideWarnings(p.ID, chosen[p.ID].Source, now)...)
	}
	if err := b.checkBuiltIn(sol.Lock); err != nil {
		return sol, err
	}
	return sol, b.reportChanges(sol, changes)
}

// openChosen opens a chosen version of which the lock does not have all required skills. If it has some of them, the
// others are those of the locked content, even if the tag moved.
func (b *Backend) openChosen(ctx context.Context, m *pack.Manifest, id pack.ID, c resolve.Selection) (*pack.Pack,
	error,
) {
	if b.Frozen && !b.isPath(c.Source) {
		return nil, diag.Errorf(diag.Conflict,
			"skillpm.lock does not match skillpm.yaml: the lockfile does not contain all required skills of %s", id).
			WithHint("run \"skillpm install\" without --frozen, and commit skillpm.lock")
	}
	if locked, ok := b.lockedVersion(id, c.Source, c.Version); ok && fetch.IsPinned(locked) {
		return b.Fetcher.OpenLocked(ctx, m, id, locked)
	}
	p, err := b.pack(ctx, id, c.Source, c.Version)
	if err != nil {
		return nil, err
	}
	return p, b.checkAge(id, c, p)
}

// appendChange adds a change, unless it is nil or another change of the pack is listed.
func appendChange(list []*fetch.Change, c *fetch.Change) []*fetch.Change {
	if c == nil || slices.ContainsFunc(list, func(have *fetch.Change) bool { return have.Pack == c.Pack }) {
		return list
	}
	return append(list, c)
}

// isLocked reports whether a lock has the very content of a pack that was opened.
func isLocked(was *pack.LockedPack, p *pack.Pack) bool {
	return was.Version == p.Version && was.Resolved == p.Ref.Digest && was.Source == p.Ref.Locked(p.Version)
}

func (s *Solution) warn(texts ...string) { s.Warnings = append(s.Warnings, texts...) }

// describe keeps the directory of a pack that neither lock nor manifest has, and what the user should know of it.
func (s *Solution) describe(m *pack.Manifest, p *pack.Pack, offer registry.Version) {
	if d, _ := m.Dependency(p.ID); d.Ref == nil && workspace.OmitsDirectory(p.Ref.Source()) {
		s.Directories[p.ID.String()] = p.Ref.URL
		s.warn(fmt.Sprintf("%s comes from the local directory %s, which skillpm.lock cannot record; "+
			"install the pack on other machines with: skillpm install --registry DIR", p.ID, p.Ref.URL))
	}
	s.warn(p.Warnings...)
	if reason := cmp.Or(p.Yanked, offer.Reason, "no reason given"); p.Yanked != "" || offer.Yanked {
		s.warn(p.ID.String() + " " + p.Version + " was yanked: " + reason)
	}
	if offer.Deprecated != "" {
		s.warn(p.ID.String() + " is deprecated: " + offer.Deprecated)
	}
}

// lockPacks makes the lock's entries for packs, several at a time.
func (b *Backend) lockPacks(ctx context.Context, sol *Solution, packs []*pack.Pack, required map[pack.ID][]string,
) error {
	entries, warnings := make([]*pack.LockedPack, len(packs)), make([][]string, len(packs))
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(fetch.Parallel)
	for i, p := range packs {
		group.Go(func() (err error) {
			var bad []pack.BadSkill
			entries[i], bad, err = b.Fetcher.Entry(ctx, p, required[p.ID])
			warnings[i] = badSkillWarnings(p, bad)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, p := range packs {
		sol.Lock.Packs[p.ID] = entries[i]
		sol.warn(warnings[i]...)
	}
	return nil
}

// narrow returns the locked entry with the required skills only (nil for all), if it has all of them.
func narrow(locked *pack.LockedPack, required []string) (*pack.LockedPack, bool) {
	if required == nil {
		return locked, !locked.Partial
	}
	skills := map[string]string{}
	for _, name := range required {
		digest, ok := locked.Skills[name]
		if !ok {
			return nil, false
		}
		skills[name] = digest
	}
	if len(skills) == len(locked.Skills) {
		return locked, true
	}
	next := *locked
	next.Skills, next.Integrity, next.Partial = skills, bundle.Integrity(skills), true
	return &next, true
}

// requiredSkills returns the skills to install of every pack, sorted; nil for all. A pack that several require gets all
// skills that any of them requires.
func (b *Backend) requiredSkills(ctx context.Context, m *pack.Manifest, chosen map[pack.ID]resolve.Selection,
) (map[pack.ID][]string, error) {
	deps := slices.Concat(m.Dependencies, m.DevDependencies)
	for id, c := range chosen {
		more, err := b.dependencies(ctx, id, c)
		if err != nil {
			return nil, err
		}
		deps = append(deps, more...)
	}
	required, all := map[pack.ID][]string{}, map[pack.ID]bool{}
	for _, d := range deps {
		all[d.ID] = all[d.ID] || len(d.Skills) == 0
		required[d.ID] = Union(required[d.ID], d.Skills)
	}
	for id := range required {
		if all[id] {
			required[id] = nil
		}
	}
	return required, nil
}

func badSkillWarnings(p *pack.Pack, bad []pack.BadSkill) []string {
	warnings := make([]string, len(bad))
	for i, s := range bad {
		warnings[i] = s.Warning(p.ID, p.Version)
	}
	return warnings
}

// Union returns the texts of both lists, sorted, each once.
func Union(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
