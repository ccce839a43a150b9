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
	e.Withheld = findWithheld(ctx, c, root)
	mine := e.ofRoot()
	for _, r := range mine[:min(len(mine), maxSuggest)] {
		if r.Source == "" && r.Constraint != "" && r.Constraint != "*" && r.Constraint != "latest" {
			e.suggest(ctx, c, root, r)
		}
	}
	if len(e.Changes) > 0 {
		return
	}
	for _, r := range mine[:min(len(mine), maxSuggest)] {
		if solves(ctx, c, without(root, r)) {
			e.Remove = append(e.Remove, []Requirement{r})
		}
	}
	if len(e.Remove) == 0 {
		e.findOthers(ctx, c, root)
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

func solves(ctx context.Context, c *catalogue, root []Requirement) bool {
	s, err := solve(ctx, c, root)
	return err == nil && s.failure == nil
}

// suggest tries whether another version would do.
func (e *ConflictError) suggest(ctx context.Context, c *catalogue, root []Requirement, r Requirement) {
	other := r
	other.Constraint = ""
	s, err := solve(ctx, c, sortedRequirements(append(without(root, r), other)))
	if err != nil || s.failure != nil {
		return
	}
	if chosen, ok := s.chosen()[r.Pack]; ok {
		e.Changes = append(e.Changes, Change{Pack: r.Pack, Version: chosen.Version})
	}
}

// findOthers looks for conflicts that stay when this one is ended, and for a set of requirements whose removal ends all
// of them.
func (e *ConflictError) findOthers(ctx context.Context, c *catalogue, root []Requirement) {
	removed := e.ofRoot()
	for range maxOthers {
		s, err := solve(ctx, c, without(root, removed...))
		if err != nil {
			return
		}
		if s.failure == nil {
			for _, r := range removed {
				if fewer := without(removed, r); solves(ctx, c, without(root, fewer...)) {
					removed = fewer
				}
			}
			e.Remove = [][]Requirement{removed}
			return
		}
		other, err := explain(ctx, c, without(root, removed...), s.failure)
		if err != nil {
			return
		}
		e.Others = append(e.Others, other)
		removed = append(removed, other.ofRoot()...)
	}
}

// findWithheld returns versions that are withheld and with which there would be a choice.
func findWithheld(ctx context.Context, c *catalogue, root []Requirement) (list []Withheld) {
	if !slices.ContainsFunc(c.packs, func(p *pack) bool { return len(p.reasons) > 0 }) {
		return nil
	}
	lenient := newCatalogue(c.world, c.prefer)
	lenient.lenient = true
	s, err := solve(ctx, lenient, root)
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
