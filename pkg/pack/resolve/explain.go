package resolve

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"
)

// maxMinimise is the number of requirements beyond which an explanation is not made smallest.
const maxMinimise = 400

// explain finds a smallest set of requirements among those that a failure follows from, and tells the conflict by it.
// What takes too long to be left out stays.
func explain(ctx context.Context, c *catalogue, root []Requirement, failure *rule) (*ConflictError, error) {
	core, effort := failure.edgesOf(), maxExplain
	order := slices.SortedFunc(maps.Keys(core), c.compareEdges)
	if len(order) <= maxMinimise {
		// Requirements of packs go first, so that those of the root, which the user can change, are what is left.
		slices.Reverse(order)
		for _, e := range order {
			if !core[e] || effort < 0 {
				continue
			}
			delete(core, e)
			s, err := solveOnly(ctx, c, root, core, &effort)
			if err != nil && !errors.Is(err, errEffort) {
				return nil, err
			}
			if err != nil || s.failure == nil {
				core[e] = true
				continue
			}
			// What the new failure does not follow from is not needed either.
			used := s.failure.edgesOf()
			maps.DeleteFunc(core, func(e *edge, _ bool) bool { return !used[e] })
		}
	}
	return c.tell(slices.SortedFunc(maps.Keys(core), c.compareEdges)), nil
}

func (c *catalogue) compareEdges(a, b *edge) int {
	if n := compareIDs(c.packs[a.by].id, c.packs[b.by].id); n != 0 {
		return n
	}
	return compareRequirements(a.req, b.req)
}

// tell turns requirements into the error.
func (c *catalogue) tell(core []*edge) *ConflictError {
	out := &ConflictError{}
	incoming := make(map[int32][]*edge)
	var targets []int32
	for _, e := range core {
		out.Needs = append(out.Needs, c.need(e))
		if incoming[e.target] == nil {
			targets = append(targets, e.target)
		}
		incoming[e.target] = append(incoming[e.target], e)
	}
	for _, p := range targets {
		var met []*edge
		for _, e := range incoming[p] {
			if e.allowed.empty() {
				out.Disputed = append(out.Disputed, c.dispute([]*edge{e}, set{}, incoming))
			} else {
				met = append(met, e)
			}
		}
		if left, claimants := together(met); claimants > 1 || claimants == 1 && left.empty() {
			out.Disputed = append(out.Disputed, c.dispute(met, left, incoming))
		} // else nobody disagrees about it, it is on the way to others
	}
	if !slices.ContainsFunc(out.Disputed, func(d Dispute) bool { return len(d.Left) == 0 }) {
		out.Disputed = nil
		for _, p := range targets { // no pack for itself is the reason: say all that cannot hold at once
			if everything(incoming[p]).empty() {
				out.Disputed = append(out.Disputed, c.dispute(incoming[p], set{}, incoming))
			}
		}
	}
	// What has to be comes before what cannot be.
	slices.SortStableFunc(out.Disputed, func(a, b Dispute) int { return min(len(b.Left), 1) - min(len(a.Left), 1) })
	return out
}

func (c *catalogue) dispute(in []*edge, left set, incoming map[int32][]*edge) Dispute {
	p := in[0].target
	d := Dispute{
		Pack: c.packs[p].id, Versions: c.names(p, c.packs[p].free()), Left: c.names(p, left),
		Withheld: c.withheld(p, in),
	}
	for _, e := range in {
		d.Chains = append(d.Chains, c.chainTo(e, incoming))
	}
	return d
}

// everything returns the versions that all requirements allow.
func everything(in []*edge) set {
	all := in[0].allowed
	for _, e := range in[1:] {
		all = all.and(e.allowed)
	}
	return all
}

// together returns the versions that all requirements of a pack allow, and how many packs have these requirements.
// Requirements that different versions of one pack have are never in force at once: what one of them allows is allowed.
func together(in []*edge) (left set, claimants int) {
	for i, e := range in {
		if slices.ContainsFunc(in[:i], func(o *edge) bool { return o.by == e.by }) {
			continue
		}
		either, by := e.allowed, e.versions
		for _, o := range in[i+1:] {
			switch {
			case o.by != e.by:
			case o.versions.meets(by):
				either, by = either.and(o.allowed), by.or(o.versions)
			default:
				either, by = either.or(o.allowed), by.or(o.versions)
			}
		}
		if claimants++; claimants == 1 {
			left = either
		} else {
			left = left.and(either)
		}
	}
	return left, claimants
}

func (c *catalogue) need(e *edge) Need {
	n := Need{By: c.packs[e.by].id, Requirement: e.req, Fitting: c.names(e.target, e.allowed)}
	if e.by != rootPack {
		n.Versions = c.names(e.by, e.versions)
	}
	return n
}

// free returns the versions that may be taken.
func (p *packNode) free() (free set) {
	for v := range p.versions {
		if p.takes(v) {
			free.add(v)
		}
	}
	return free
}

// names returns versions of a pack, highest first, each once.
func (c *catalogue) names(p int32, of set) []string {
	var found []*candidate
	for v := range of.all() {
		found = append(found, &c.packs[p].versions[v])
	}
	slices.SortStableFunc(found, func(a, b *candidate) int { return b.compare(a) })
	var names []string
	for _, cand := range found {
		if !slices.Contains(names, cand.version) {
			names = append(names, cand.version)
		}
	}
	return names
}

// maxWithheld is the number of versions of a pack about which it is said that they were not taken.
const maxWithheld = 4

// withheld says of versions that look as if they would end a dispute why they were not taken: those that fit all
// requirements, and those that fit one that nothing else fits.
func (c *catalogue) withheld(p int32, in []*edge) (list []Withheld) {
	for v := range c.packs[p].versions {
		all, only := true, false
		why := ""
		for _, e := range in {
			looks, reason := c.against(p, v, &e.req)
			all = all && (looks || e.allowed.has(v))
			only = only || looks && e.allowed.empty()
			if looks {
				why = reason
			}
		}
		w := Withheld{Pack: c.packs[p].id, Version: c.packs[p].versions[v].version, Reason: why}
		if (all || only) && why != "" && !slices.Contains(list, w) && len(list) < maxWithheld {
			list = append(list, w)
		}
	}
	return list
}

// against reports whether a version fits a requirement but for being held or a pre-release, and says which.
func (c *catalogue) against(p int32, v int, req *Requirement) (looks bool, reason string) {
	cand := &c.packs[p].versions[v]
	within, err := c.rangeOf(req)
	if err != nil || c.packs[p].placeOf(v) != req.Source {
		return false, ""
	}
	if cand.held && !cand.preferred {
		return within == nil || within.fits(cand), c.packs[p].reasons[v]
	}
	if within == nil || !cand.prerelease() || within.fits(cand) {
		return false, ""
	}
	plain := candidate{parsed: semver.New(cand.parsed.Major(), cand.parsed.Minor(), cand.parsed.Patch(), "", "")}
	return within.fits(&plain), "is a pre-release, which has to be asked for"
}

// chainTo returns the requirements that lead from the root to e, by the fewest.
func (c *catalogue) chainTo(e *edge, incoming map[int32][]*edge) []Need {
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
			if _, seen := before[in]; !seen && in.allowed.meets(at.versions) {
				before[in] = at
				todo = append(todo, in)
			}
		}
	}
	return []Need{c.need(e)}
}
