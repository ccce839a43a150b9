package resolve

import (
	"context"
	"slices"
)

// The limits of the advice, in searches.
const (
	maxTrials = 6 // requirements of the root that are removed, or relaxed, on trial
	maxOthers = 6 // conflicts beside the first
)

// advise adds to the error what would end the conflict, as far as it finds out within its effort.
func (e *ConflictError) advise(ctx context.Context, cache *providerCache, root []Requirement) {
	a := &adviser{cache: cache, root: root, effort: maxAdviceEffort}
	e.Unavailable = a.unavailable(ctx)
	direct := e.rootRequirements()
	for _, r := range direct[:min(len(direct), maxTrials)] {
		if r.Source == "" && r.Constraint != "" && r.Constraint != "*" && r.Constraint != "latest" {
			a.tryChange(ctx, e, r)
		}
	}
	if len(e.Changes) > 0 {
		return
	}
	for _, r := range direct[:min(len(direct), maxTrials)] {
		if a.solves(ctx, without(root, r)) {
			e.Removals = append(e.Removals, []Requirement{r})
		}
	}
	if len(e.Removals) == 0 {
		a.findOthers(ctx, e)
	}
}

// rootRequirements returns the requirements of the root that take part.
func (e *ConflictError) rootRequirements() (list []Requirement) {
	for _, d := range e.Dependencies {
		if d.By.IsZero() {
			list = append(list, d.Requirement)
		}
	}
	return list
}

// without returns the requirements except those to remove.
func without(root []Requirement, remove ...Requirement) []Requirement {
	return slices.DeleteFunc(slices.Clone(root), func(r Requirement) bool { return slices.Contains(remove, r) })
}

// adviser searches with changed requirements. effort is what its searches may still take together.
type adviser struct {
	cache  *providerCache
	root   []Requirement
	effort int
}

func (a *adviser) solves(ctx context.Context, root []Requirement) bool {
	s, err := solve(ctx, a.cache, root, nil, &a.effort)
	return err == nil && s.failure == nil
}

// tryChange adds a change if another version of the pack would end the conflict.
func (a *adviser) tryChange(ctx context.Context, e *ConflictError, r Requirement) {
	anyVersion := r
	anyVersion.Constraint = ""
	s, err := solve(ctx, a.cache, append(without(a.root, r), anyVersion), nil, &a.effort)
	if err != nil || s.failure != nil {
		return
	}
	if selection, ok := s.selections()[r.Pack]; ok {
		e.Changes = append(e.Changes, Change{Pack: r.Pack, Version: selection.Version})
	}
}

// findOthers finds conflicts that stay if this one ends, and a set of requirements whose removal ends all of them.
func (a *adviser) findOthers(ctx context.Context, e *ConflictError) {
	removed := e.rootRequirements()
	for range maxOthers {
		s, err := solve(ctx, a.cache, without(a.root, removed...), nil, &a.effort)
		if err != nil {
			return
		}
		if s.failure == nil {
			for _, r := range removed {
				if fewer := without(removed, r); a.solves(ctx, without(a.root, fewer...)) {
					removed = fewer
				}
			}
			e.Removals = [][]Requirement{removed}
			return
		}
		other, err := explain(ctx, a.cache, without(a.root, removed...), s.failure)
		if err != nil {
			return
		}
		e.Others = append(e.Others, other)
		removed = append(removed, other.rootRequirements()...)
	}
}

// unavailable returns versions that may not be selected and with which there would be a solution.
func (a *adviser) unavailable(ctx context.Context) (list []UnavailableVersion) {
	if !slices.ContainsFunc(a.cache.packs, (*packNode).hasUnavailable) {
		return nil
	}
	lenient := newProviderCache(a.cache.provider, a.cache.prefer)
	lenient.lenient = true
	s, err := solve(ctx, lenient, a.root, nil, &a.effort)
	if err != nil || s.failure != nil {
		return nil
	}
	for p, version := range s.versions() {
		if v := p.versions[version]; !v.selectable() {
			list = append(list, UnavailableVersion{Pack: p.id, Version: v.text, Reason: v.unavailable})
		}
	}
	slices.SortFunc(list, func(a, b UnavailableVersion) int { return a.Pack.Compare(b.Pack) })
	return list
}

func (p *packNode) hasUnavailable() bool {
	return slices.ContainsFunc(p.versions, func(v *candidate) bool { return v.unavailable != "" })
}
