package provider

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
)

// Solution is a lock, and what was learnt on the way to it.
type Solution struct {
	Lock     *pack.Lock
	Packs    map[pack.ID]*pack.Pack // those that were opened, because the lock before did not have them
	Places   map[string]string      // directories that the lock leaves out, by pack
	Warnings []string
}

// Lock turns a manifest into a lock. It asks registries and places, and fetches only packs whose content nobody vouches
// for (git, foreign artifacts). The error is a [resolve.ConflictError] when requirements exclude each other.
func (pr *Provider) Lock(ctx context.Context, m *pack.Manifest) (*Solution, error) {
	chosen, err := pr.solve(ctx, m)
	if err != nil {
		return nil, pr.withheld(pr.frozenError(m, err))
	}
	sol, err := pr.newLock(ctx, m, chosen)
	return sol, pr.frozenError(m, err)
}

// frozenError has the error of a frozen install say in what manifest and lock disagree, where that is why.
func (pr *Provider) frozenError(m *pack.Manifest, err error) error {
	code := diag.CodeOf(err)
	if err == nil || !pr.options.Frozen || code != diag.Conflict && code != diag.NotFound {
		return err
	}
	return cmp.Or(workspace.Disagreement(m, pr.lock), err)
}

// Choose turns a manifest into versions, and fetches nothing: what [Provider.Lock] would lock.
func (pr *Provider) Choose(ctx context.Context, m *pack.Manifest) (map[pack.ID]resolve.Chosen, error) {
	return pr.solve(ctx, m)
}

// solve chooses versions: first with every locked pack as it is, which asks nobody about them, and if that can't be,
// with the lock as a preference.
func (pr *Provider) solve(ctx context.Context, m *pack.Manifest) (map[pack.ID]resolve.Chosen, error) {
	wanted := slices.Concat(m.Dependencies, m.DevDependencies)
	for _, d := range wanted {
		pr.direct[d.ID] = d
	}
	roots := pr.requirements(wanted)
	prefer := map[pack.ID]string{}
	for id, p := range pr.lock.Packs {
		if !pr.fresh[id] {
			prefer[id] = p.Version
		}
	}
	pr.sticky = true
	pr.expect(ctx, wanted)
	chosen, err := resolve.Resolve(ctx, roots, pr, resolve.Options{Prefer: prefer})
	if pr.options.Frozen && diag.CodeOf(err) == diag.NotFound {
		return nil, diag.Errorf(diag.Conflict, "skillpm.lock does not have what skillpm.yaml asks for: %w", err).
			WithHint("run skillpm install without --frozen, look at the difference and commit it")
	}
	if code := diag.CodeOf(err); pr.options.Frozen || err != nil && code != diag.Conflict && code != diag.NotFound {
		return chosen, err
	}
	if err == nil && pr.atBest(ctx, chosen) {
		return chosen, nil
	}
	pr.sticky = false
	pr.expect(ctx, wanted)
	better, looseErr := resolve.Resolve(ctx, roots, pr, resolve.Options{Prefer: prefer})
	if code := diag.CodeOf(looseErr); err == nil && (code == diag.Remote || code == diag.NotFound || code == diag.Conflict) {
		return chosen, nil // as where a registry of another pack can't be reached
	}
	return better, looseErr
}

// atBest reports whether every pack that is free got the best version that its requirement in the manifest allows, so
// that nothing is gained by moving what is locked.
func (pr *Provider) atBest(ctx context.Context, chosen map[pack.ID]resolve.Chosen) bool {
	for id := range pr.fresh {
		pick, ok := chosen[id]
		if !ok {
			continue
		}
		versions, err := pr.Versions(ctx, id, pick.Source)
		if err != nil {
			continue
		}
		now, err := semver.StrictNewVersion(pick.Version)
		if err != nil {
			continue
		}
		for _, v := range versions {
			other, err := semver.StrictNewVersion(v.Version)
			if err != nil || v.Yanked || v.Withheld != "" || !other.GreaterThan(now) || other.Prerelease() != "" && now.Prerelease() == "" {
				continue
			}
			if fits, err := pack.Allows(pr.direct[id], v.Version); err == nil && fits {
				return false
			}
		}
	}
	return true
}

// newLock builds the lock for the chosen versions. An entry that is still right is kept as it is.
func (pr *Provider) newLock(ctx context.Context, m *pack.Manifest, chosen map[pack.ID]resolve.Chosen) (*Solution, error) {
	lock := pr.lock.Clone()
	sol := &Solution{Lock: lock, Packs: map[pack.ID]*pack.Pack{}, Places: map[string]string{}}
	for id := range lock.Packs {
		if _, ok := chosen[id]; !ok {
			delete(lock.Packs, id)
		}
	}
	wanted, err := pr.wantedSkills(ctx, m, chosen)
	if err != nil {
		return nil, err
	}
	var fresh []*pack.Pack
	for _, id := range slices.SortedFunc(maps.Keys(chosen), pack.ID.Compare) {
		pick := chosen[id]
		if pick.Source == "" {
			if err := pr.CheckVersion(ctx, id); err != nil {
				return nil, err
			}
		}
		if have, ok := pr.locked(id, pick.Source); ok && have.Version == pick.Version && !isDirectory(have.Source) {
			if narrowed, ok := narrow(have, wanted[id]); ok {
				lock.Packs[id] = narrowed
				sol.Warnings = append(append(sol.Warnings, pr.strayed(id, pick.Source, have)...), pr.withdrawnOffer(id, have)...)
				continue
			}
		}
		if pr.options.Frozen && !pr.isPath(pick.Source) {
			return nil, diag.Errorf(diag.Conflict, "skillpm.lock does not have the skills of %s that skillpm.yaml asks for", id).
				WithHint("run skillpm install without --frozen and commit skillpm.lock")
		}
		p, err := pr.pack(ctx, id, pick.Source, pick.Version)
		if err != nil {
			return nil, err
		}
		if err := pr.checkAge(id, pick, p); err != nil {
			return nil, err
		}
		sol.Packs[id] = p
		sol.remember(m, p)
		sol.Warnings = append(sol.Warnings, p.Warnings...)
		o, offered := pr.Offer(id, p.Version)
		if reason := cmp.Or(p.Yanked, o.Reason); p.Yanked != "" || o.Yanked {
			sol.Warnings = append(sol.Warnings, id.String()+" "+p.Version+" was withdrawn: "+cmp.Or(reason, "no reason given"))
		}
		if offered && o.Deprecated != "" {
			sol.Warnings = append(sol.Warnings, id.String()+" is deprecated: "+o.Deprecated)
		}
		if have, ok := narrow(pr.same(id, p), wanted[id]); ok {
			lock.Packs[id] = have
			continue
		}
		fresh = append(fresh, p)
	}
	return sol, pr.lockPacks(ctx, lock, fresh, wanted)
}

// lockPacks makes the lock's entries for packs, several at a time: those whose content nobody vouches for are fetched.
func (pr *Provider) lockPacks(ctx context.Context, lock *pack.Lock, packs []*pack.Pack, wanted map[pack.ID][]string) error {
	entries := make([]*pack.LockedPack, len(packs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelFetches)
	for i, p := range packs {
		group.Go(func() (err error) {
			entries[i], err = pr.lockPack(ctx, p, wanted[p.ID])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, p := range packs {
		lock.Packs[p.ID] = entries[i]
	}
	return nil
}

// same returns what is locked of a pack, if it is what was found again; else an entry without skills.
func (pr *Provider) same(id pack.ID, p *pack.Pack) *pack.LockedPack {
	have, ok := pr.lock.Packs[id]
	if ok && have.Version == p.Version && have.Resolved == p.Ref.Digest && p.Ref.Digest != "" && have.Source == p.Ref.Locked(p.Version) {
		return have
	}
	return &pack.LockedPack{Partial: true}
}

// narrow returns the locked entry with the wanted skills only (nil for all), if it has all of them.
func narrow(have *pack.LockedPack, wanted []string) (*pack.LockedPack, bool) {
	if wanted == nil {
		return have, !have.Partial
	}
	skills := map[string]string{}
	for _, name := range wanted {
		digest, ok := have.Skills[name]
		if !ok {
			return nil, false
		}
		skills[name] = digest
	}
	if len(skills) == len(have.Skills) {
		return have, true
	}
	next := *have
	next.Skills, next.Integrity, next.Partial = skills, bundle.Integrity(skills), true
	return &next, true
}

// wantedSkills returns the skills to install of every pack, sorted; nil means all. A pack that several require is
// wanted with all that any of them wants.
func (pr *Provider) wantedSkills(ctx context.Context, m *pack.Manifest, chosen map[pack.ID]resolve.Chosen) (map[pack.ID][]string, error) {
	wanted := map[pack.ID][]string{}
	all := map[pack.ID]bool{}
	want := func(deps []pack.Dependency) {
		for _, d := range deps {
			if len(d.Skills) == 0 {
				all[d.ID] = true
			}
			wanted[d.ID] = Union(wanted[d.ID], d.Skills)
		}
	}
	want(slices.Concat(m.Dependencies, m.DevDependencies))
	for id, pick := range chosen {
		deps, err := pr.dependencies(ctx, id, pick)
		if err != nil {
			return nil, err
		}
		want(deps)
	}
	for id := range all {
		wanted[id] = nil
	}
	return wanted, nil
}

// lockPack makes the lock's entry for a pack.
func (pr *Provider) lockPack(ctx context.Context, p *pack.Pack, wanted []string) (*pack.LockedPack, error) {
	names := p.SkillNames()
	if wanted != nil {
		names = wanted
	}
	trees := map[string]string{}
	unknown := false
	for _, name := range names {
		s, ok := p.Skill(name)
		if !ok {
			return nil, diag.Errorf(diag.NotFound, "%s %s has no skill %q", p.ID, p.Version, name).
				WithHint("it has %s", strings.Join(p.SkillNames(), ", "))
		}
		trees[name] = s.Tree
		unknown = unknown || s.Tree == ""
	}
	if err := vouched(p); err != nil {
		return nil, err
	}
	if len(trees) == 0 {
		return nil, diag.Errorf(diag.Invalid, "%s %s has no skills", p.ID, p.Version)
	}
	if unknown {
		var err error
		if trees, err = pr.fetch(ctx, p, names, nil); err != nil {
			return nil, err
		}
	}
	entry := &pack.LockedPack{
		Version: p.Version, Source: p.Ref.Locked(p.Version), Resolved: p.Ref.Digest,
		Integrity: bundle.Integrity(trees), Skills: trees, Dependencies: map[string]string{},
		Partial: len(trees) < len(p.Skills),
	}
	for _, d := range p.Dependencies {
		entry.Dependencies[d.ID.String()] = pack.FormatRequirement(d)
	}
	return entry, nil
}

// vouched checks that what a place says of a pack agrees with itself: its integrity is that of its skills.
func vouched(p *pack.Pack) error {
	trees := map[string]string{}
	for _, s := range p.Skills {
		if s.Tree == "" {
			return nil
		}
		trees[s.Name] = s.Tree
	}
	if got := bundle.Integrity(trees); p.Integrity != "" && p.Integrity != got {
		return &bundle.MismatchError{What: "integrity of " + p.ID.String() + " " + p.Version, Want: p.Integrity, Got: got}
	}
	return nil
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
