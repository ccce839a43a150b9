package resolve

import (
	"context"
	"slices"
)

// maxMinimise is the number of requirements beyond which an explanation is not made smallest.
const maxMinimise = 400

// explain finds a smallest set of requirements among those that a failure follows from, and tells the conflict by it.
func explain(ctx context.Context, c *catalogue, root []Requirement, failure *rule) (*ConflictError, error) {
	core := failure.edgesOf()
	order := slices.SortedFunc(keys(core), c.compareEdges)
	if len(order) <= maxMinimise {
		// Requirements of packs go first, so that those of the root, which the user can change, are what is left.
		slices.Reverse(order)
		for _, e := range order {
			if !core[e] {
				continue
			}
			delete(core, e)
			s, err := newSolver(c, core).run(ctx, root)
			if err != nil {
				return nil, err
			}
			if s.failure == nil {
				core[e] = true
				continue
			}
			// What the new failure does not follow from is not needed either.
			used := s.failure.edgesOf()
			for e := range core {
				if !used[e] {
					delete(core, e)
				}
			}
		}
	}
	return c.tell(slices.SortedFunc(keys(core), c.compareEdges)), nil
}

func keys(set map[*edge]bool) func(yield func(*edge) bool) {
	return func(yield func(*edge) bool) {
		for e := range set {
			if !yield(e) {
				return
			}
		}
	}
}

func (c *catalogue) compareEdges(a, b *edge) int {
	if n := c.packs[a.by].id.Compare(c.packs[b.by].id); n != 0 {
		return n
	}
	return compareRequirements(a.req, b.req)
}

// tell turns requirements into the error.
func (c *catalogue) tell(core []*edge) *ConflictError {
	out := &ConflictError{}
	incoming := make(map[int][]*edge)
	var targets []int
	for _, e := range core {
		out.Needs = append(out.Needs, c.need(e))
		if incoming[e.target] == nil {
			targets = append(targets, e.target)
		}
		incoming[e.target] = append(incoming[e.target], e)
	}
	for _, p := range targets {
		in := incoming[p]
		if len(in) == 1 && !in[0].allowed.empty() {
			continue // nobody disagrees about it, it is on the way to others
		}
		d := Dispute{Pack: c.packs[p].id, Versions: c.names(p, nil), Withheld: c.withheld(p, in)}
		for _, e := range in {
			d.Chains = append(d.Chains, c.chainTo(e, incoming))
		}
		out.Disputed = append(out.Disputed, d)
	}
	return out
}

func (c *catalogue) need(e *edge) Need {
	n := Need{By: c.packs[e.by].id, Requirement: e.req, Fitting: c.names(e.target, e.allowed)}
	if e.by != rootPack {
		n.Versions = c.names(e.by, e.versions)
	}
	return n
}

// names returns versions of a pack, highest first; all that are not withheld for a nil set.
func (c *catalogue) names(p int, set bitset) []string {
	var found []candidate
	for v, cand := range c.packs[p].versions {
		if set.has(v) || set == nil && !cand.yanked {
			found = append(found, cand)
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return b.parsed.Compare(a.parsed) })
	var names []string
	for _, cand := range found {
		if !slices.Contains(names, cand.version) {
			names = append(names, cand.version)
		}
	}
	return names
}

// withheld says of versions that look as if they fitted why they were not taken.
func (c *catalogue) withheld(p int, in []*edge) (lines []string) {
	for _, e := range in {
		fits, err := c.check(e.req)
		if err != nil || !e.allowed.empty() {
			continue
		}
		for _, cand := range c.packs[p].versions {
			release, _ := cand.parsed.SetPrerelease("")
			switch {
			case cand.source != e.req.Source:
			case cand.yanked && fits(cand.parsed):
				lines = append(lines, cand.version+" was yanked")
			case !cand.yanked && cand.parsed.Prerelease() != "" && fits(&release):
				lines = append(lines, cand.version+" is a pre-release, which has to be asked for")
			}
		}
	}
	if len(lines) > 4 {
		lines = lines[:4]
	}
	return slices.Compact(lines)
}

// chainTo returns the requirements that lead from the root to e, by the fewest.
func (c *catalogue) chainTo(e *edge, incoming map[int][]*edge) []Need {
	before := map[*edge]*edge{e: nil}
	todo := []*edge{e}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if at.by == rootPack {
			var chain []Need
			for ; at != nil; at = before[at] {
				chain = append(chain, c.need(at))
			}
			return chain
		}
		for _, in := range incoming[at.by] {
			if _, seen := before[in]; !seen {
				before[in] = at
				todo = append(todo, in)
			}
		}
	}
	return []Need{c.need(e)}
}

// maxSuggest is the number of requirements that other versions are tried for.
const maxSuggest = 6

// suggest tries for each requirement of the root that takes part in the conflict whether another version would do. It
// only adds: what it cannot find out it leaves out.
func (e *ConflictError) suggest(ctx context.Context, c *catalogue, root []Requirement) {
	tried := 0
	for _, n := range e.Needs {
		if !n.By.IsZero() || n.Source != "" || n.Constraint == "" || n.Constraint == "*" || tried == maxSuggest {
			continue
		}
		tried++
		other := slices.Clone(root)
		for i := range other {
			if other[i] == n.Requirement {
				other[i].Constraint = ""
			}
		}
		s, err := solve(ctx, c, sortedRequirements(other))
		if err != nil || s.failure != nil {
			continue
		}
		if chosen, ok := s.chosen(other)[n.Pack]; ok {
			e.Changes = append(e.Changes, Change{Pack: n.Pack, Version: chosen.Version})
		}
	}
}
