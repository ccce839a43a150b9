package resolve

import (
	"context"
	"slices"
)

// The bounds of an advice, in searches.
const (
	maxSuggest = 6 // requirements of the root that are tried without, or with another range
	maxOthers  = 6 // conflicts beside the first
)

// advise finds out what would end the conflict. It only adds: what it cannot find out it leaves out.
func (e *ConflictError) advise(ctx context.Context, c *catalogue, root []Requirement) {
	a := &adviser{cat: c, root: root, effort: maxAdvise}
	e.Withheld = a.withheld(ctx)
	mine := e.ofRoot()
	for _, r := range mine[:min(len(mine), maxSuggest)] {
		if r.Source == "" && r.Constraint != "" && r.Constraint != "*" && r.Constraint != "latest" {
			a.suggest(ctx, e, r)
		}
	}
	if len(e.Changes) > 0 {
		return
	}
	for _, r := range mine[:min(len(mine), maxSuggest)] {
		if a.solves(ctx, without(root, r)) {
			e.Remove = append(e.Remove, []Requirement{r})
		}
	}
	if len(e.Remove) == 0 {
		a.findOthers(ctx, e)
	}
}

// ofRoot returns the requirements of the root that take part.
func (e *ConflictError) ofRoot() (list []Requirement) {
	for _, n := range e.Needs {
		if n.By.IsZero() {
			list = append(list, n.Requirement)
		}
	}
	return list
}

// without returns the requirements but some.
func without(root []Requirement, not ...Requirement) []Requirement {
	return slices.DeleteFunc(slices.Clone(root), func(r Requirement) bool { return slices.Contains(not, r) })
}

// adviser tries what would help. All its searches together may take so much effort.
type adviser struct {
	cat    *catalogue
	root   []Requirement
	effort int
}

func (a *adviser) solves(ctx context.Context, root []Requirement) bool {
	s, err := solve(ctx, a.cat, root, &a.effort)
	return err == nil && s.failure == nil
}

// suggest tries whether another version would do.
func (a *adviser) suggest(ctx context.Context, e *ConflictError, r Requirement) {
	other := r
	other.Constraint = ""
	s, err := solve(ctx, a.cat, sortedRequirements(append(without(a.root, r), other)), &a.effort)
	if err != nil || s.failure != nil {
		return
	}
	if chosen, ok := s.chosen()[r.Pack]; ok {
		e.Changes = append(e.Changes, Change{Pack: r.Pack, Version: chosen.Version})
	}
}

// findOthers looks for conflicts that stay when this one is ended, and for a set of requirements whose removal ends all
// of them.
func (a *adviser) findOthers(ctx context.Context, e *ConflictError) {
	removed := e.ofRoot()
	for range maxOthers {
		s, err := solve(ctx, a.cat, without(a.root, removed...), &a.effort)
		if err != nil {
			return
		}
		if s.failure == nil {
			for _, r := range removed {
				if fewer := without(removed, r); a.solves(ctx, without(a.root, fewer...)) {
					removed = fewer
				}
			}
			e.Remove = [][]Requirement{removed}
			return
		}
		other, err := explain(ctx, a.cat, without(a.root, removed...), s.failure)
		if err != nil {
			return
		}
		e.Others = append(e.Others, other)
		removed = append(removed, other.ofRoot()...)
	}
}

// withheld returns versions that are withheld and with which there would be a choice.
func (a *adviser) withheld(ctx context.Context) (list []Withheld) {
	if !slices.ContainsFunc(a.cat.packs, func(p *packNode) bool { return len(p.reasons) > 0 }) {
		return nil
	}
	lenient := newCatalogue(a.cat.world, a.cat.prefer)
	lenient.lenient = true
	s, err := solve(ctx, lenient, a.root, &a.effort)
	if err != nil || s.failure != nil {
		return nil
	}
	for n, v := range s.decisions() {
		if p := lenient.packs[n]; !p.takes(v) {
			list = append(list, Withheld{Pack: p.id, Version: p.versions[v].version, Reason: p.reasons[v]})
		}
	}
	slices.SortFunc(list, func(a, b Withheld) int { return compareIDs(a.Pack, b.Pack) })
	return list
}
