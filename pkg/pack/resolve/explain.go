package resolve

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"
)

// maxMinimize is the number of requirements beyond which an explanation is not made smallest.
const maxMinimize = 400

// explain returns the error for a smallest set of the requirements that a failure was derived from. It tries to leave
// out one after the other, and keeps those that take too much effort.
func explain(ctx context.Context, cache *providerCache, root []Requirement, failure *incompatibility) (*ConflictError,
	error,
) {
	core, effort := failure.dependencies(), maxExplainEffort
	order := slices.SortedFunc(maps.Keys(core), compareDependencies)
	if len(order) > maxMinimize {
		return cache.newConflictError(order), nil
	}
	// Requirements of packs are left out first, so that those of the root, which the user can change, stay.
	for _, d := range slices.Backward(order) {
		if !core[d] || effort < 0 {
			continue
		}
		delete(core, d)
		s, err := solve(ctx, cache, root, core, &effort)
		switch {
		case err != nil && !errors.Is(err, errEffort):
			return nil, err
		case err != nil || s.failure == nil:
			core[d] = true
		default: // the new failure may need even less
			needed := s.failure.dependencies()
			maps.DeleteFunc(core, func(d *dependency, _ bool) bool { return !needed[d] })
		}
	}
	return cache.newConflictError(slices.SortedFunc(maps.Keys(core), compareDependencies)), nil
}

func compareDependencies(a, b *dependency) int {
	return cmp.Or(a.dependent.id.Compare(b.dependent.id), compareRequirements(a.requirement, b.requirement))
}

// newConflictError describes requirements that exclude each other.
func (c *providerCache) newConflictError(core []*dependency) *ConflictError {
	e := &ConflictError{}
	incoming := make(map[*packNode][]*dependency)
	var targets []*packNode
	for _, d := range core {
		e.Dependencies = append(e.Dependencies, d.describe())
		if incoming[d.target] == nil {
			targets = append(targets, d.target)
		}
		incoming[d.target] = append(incoming[d.target], d)
	}
	for _, p := range targets {
		var possible []*dependency
		for _, d := range incoming[p] {
			if d.allowed.empty() {
				e.Disputes = append(e.Disputes, c.newDispute([]*dependency{d}, nil, incoming))
			} else {
				possible = append(possible, d)
			}
		}
		// If one pack has all requirements and they agree, this pack is only on the way to others.
		if matching, dependents := matchingAll(possible); dependents > 1 || dependents == 1 && matching.empty() {
			e.Disputes = append(e.Disputes, c.newDispute(possible, matching, incoming))
		}
	}
	if !slices.ContainsFunc(e.Disputes, func(d Dispute) bool { return len(d.Matching) == 0 }) {
		e.Disputes = nil
		for _, p := range targets { // no package is the reason alone: show all that cannot be met at once
			if intersectAllowed(incoming[p]).empty() {
				e.Disputes = append(e.Disputes, c.newDispute(incoming[p], nil, incoming))
			}
		}
	}
	// What is possible comes before what is not.
	slices.SortStableFunc(e.Disputes, func(a, b Dispute) int {
		return min(len(b.Matching), 1) - min(len(a.Matching), 1)
	})
	return e
}

func (d *dependency) describe() Dependency {
	described := Dependency{By: d.dependent.id, Requirement: d.requirement, Matching: d.target.texts(d.allowed)}
	if !d.dependent.id.IsZero() {
		described.Versions = d.dependent.texts(d.versions)
	}
	return described
}

func (c *providerCache) newDispute(in []*dependency, matching versionSet, incoming map[*packNode][]*dependency,
) Dispute {
	p := in[0].target
	var selectable versionSet
	for i, v := range p.versions {
		if v.selectable() {
			selectable = selectable.with(i)
		}
	}
	dispute := Dispute{
		Pack: p.id, Versions: p.texts(selectable), Matching: p.texts(matching), Unavailable: c.unavailableVersions(in),
	}
	for _, d := range in {
		dispute.Chains = append(dispute.Chains, d.chain(incoming))
	}
	return dispute
}

// texts returns versions, highest first and each once.
func (p *packNode) texts(of versionSet) []string {
	var found []*candidate
	for i := range of.all() {
		found = append(found, p.versions[i])
	}
	slices.SortStableFunc(found, func(a, b *candidate) int { return b.compare(a) })
	var texts []string
	for _, v := range found {
		texts = append(texts, v.text)
	}
	return slices.Compact(texts)
}

// intersectAllowed returns the versions that all requirements of a package allow.
func intersectAllowed(in []*dependency) versionSet {
	allowed := in[0].allowed
	for _, d := range in[1:] {
		allowed = allowed.intersect(d.allowed)
	}
	return allowed
}

// matchingAll returns the versions that all requirements of a package allow, and how many packages have these
// requirements. Requirements of different versions of one dependent never apply at once: what one of them allows is
// allowed.
func matchingAll(in []*dependency) (matching versionSet, dependents int) {
	for i, first := range in {
		sameDependent := func(d *dependency) bool { return d.dependent == first.dependent }
		if slices.ContainsFunc(in[:i], sameDependent) {
			continue
		}
		allowed, versions := first.allowed, first.versions
		for _, d := range in[i+1:] {
			if !sameDependent(d) {
				continue
			}
			if d.versions.overlaps(versions) {
				allowed = allowed.intersect(d.allowed)
			} else {
				allowed = allowed.union(d.allowed)
			}
			versions = versions.union(d.versions)
		}
		if dependents++; dependents == 1 {
			matching = allowed
		} else {
			matching = matching.intersect(allowed)
		}
	}
	return matching, dependents
}

// maxUnavailable is the number of unavailable versions of a pack that an explanation lists.
const maxUnavailable = 4

// unavailableVersions returns versions that would end a dispute if they were available: those that match all
// requirements, and those that match one that no other version matches.
func (c *providerCache) unavailableVersions(in []*dependency) (list []UnavailableVersion) {
	p := in[0].target
	for i, v := range p.versions {
		all, only := true, false
		reason := ""
		for _, d := range in {
			matches, why := c.wouldMatch(v, d.requirement)
			all = all && (matches || d.allowed.has(i))
			only = only || matches && d.allowed.empty()
			if matches {
				reason = why
			}
		}
		unavailable := UnavailableVersion{Pack: p.id, Version: v.text, Reason: reason}
		if (all || only) && reason != "" && !slices.Contains(list, unavailable) && len(list) < maxUnavailable {
			list = append(list, unavailable)
		}
	}
	return list
}

// wouldMatch reports whether a version matches a requirement except that it is unavailable or a pre-release, and
// returns which.
func (c *providerCache) wouldMatch(v *candidate, r Requirement) (matches bool, reason string) {
	constraint, err := c.constraint(r)
	if err != nil || v.source != r.Source {
		return false, ""
	}
	if !v.selectable() {
		return constraint == nil || constraint.Check(v.Version), v.unavailable
	}
	if constraint == nil || !v.prerelease() || constraint.Check(v.Version) {
		return false, ""
	}
	release := semver.New(v.Major(), v.Minor(), v.Patch(), "", "")
	return constraint.Check(release), "is a pre-release, and the version range does not name a pre-release"
}

// chain returns the shortest chain of requirements from the root to d.
func (d *dependency) chain(incoming map[*packNode][]*dependency) (chain []Dependency) {
	next := map[*dependency]*dependency{d: nil}
	for queue := []*dependency{d}; len(queue) > 0; queue = queue[1:] {
		first := queue[0]
		if first.dependent.id.IsZero() {
			for ; first != nil; first = next[first] {
				chain = append(chain, first.describe())
			}
			return chain
		}
		for _, in := range incoming[first.dependent] {
			if _, visited := next[in]; !visited && in.allowed.overlaps(first.versions) {
				next[in] = first
				queue = append(queue, in)
			}
		}
	}
	return []Dependency{d.describe()}
}
