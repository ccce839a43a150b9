package graph

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
)

// MaxChains is how many chains Why returns at most.
const MaxChains = 20

// The bounds of what Why looks at. Of a graph without cycles it counts the chains without going through them; of one
// with cycles it goes through some.
const (
	maxCount  = 1_000_000 // chains that are counted
	maxListed = 1_000     // chains that are gone through, where there are cycles
	maxLinks  = 200_000   // beginnings of these that are held
	maxSteps  = 4_000_000 // steps on the way, and requirements looked at
)

// Step is one pack of a chain.
type Step struct {
	ID         pack.ID
	Version    string
	Constraint string // what the one before requires of it
	Dev        bool   // the one before is the manifest, and requires it for development only
}

// Reasons is why a pack is there.
type Reasons struct {
	// Chains lead from the manifest to the pack, no pack twice in one of them: the shortest first, of equals that with
	// the first names. The manifest is left out.
	Chains [][]Step
	More   int  // chains that there are besides
	Open   bool // there are that many at least; how many has not been counted
}

// Why returns the chains of requirements that lead from the manifest to a pack: none if it is not required.
func (g *Graph) Why(id pack.ID) Reasons {
	target := g.find(id)
	if target < 0 || g.root < 0 {
		return Reasons{}
	}
	c := &chains{g: g, target: target, left: g.distances(target, into)}
	if c.left[g.root] < 0 {
		return Reasons{}
	}
	total, acyclic := c.count()
	limit := MaxChains
	if !acyclic {
		limit = maxListed
	}
	found, all := c.search(limit)
	if !acyclic {
		total = len(found)
	}
	return Reasons{
		Chains: c.steps(found[:min(len(found), MaxChains)]), More: total - min(len(found), MaxChains),
		Open: acyclic && total >= maxCount || !acyclic && !all,
	}
}

// chains looks for chains to one node.
type chains struct {
	g      *Graph
	target int
	left   []int // steps from each node to the target, -1 where no chain leads there
}

// count returns how many chains there are, maxCount if there are that many or more, unless what they go through has
// cycles.
func (c *chains) count() (total int, acyclic bool) {
	order, back := c.g.order([]int{c.g.root}, func(a arc) bool { return c.left[a.to] >= 0 })
	if len(back) > 0 {
		return 0, false
	}
	ways := make([]int, len(c.g.nodes))
	ways[c.g.root] = 1
	for _, i := range order {
		if i == c.target {
			continue
		}
		for _, a := range c.g.nodes[i].out {
			if c.left[a.to] >= 0 {
				ways[a.to] = min(ways[a.to]+ways[i], maxCount)
			}
		}
	}
	return ways[c.target], true
}

// link is the last step of the beginning of a chain.
type link struct {
	node   int
	by     arc
	before *link
	length int
}

// search returns chains, the shortest first, and whether these are all. A beginning of a chain is continued in order of
// the length that it can have at least, so that without cycles each step is one of a chain that is returned, and with
// them the first is found without going astray: only what comes after it is bounded by anything but the graph.
func (c *chains) search(limit int) (found []*link, all bool) {
	open := make([][]*link, c.left[c.g.root]+1) // by that length
	open[len(open)-1] = []*link{{node: c.g.root}}
	path := newTrail(len(c.g.nodes))
	links, steps := 0, 0
	for length := 0; length < len(open); length++ {
		for len(open[length]) > 0 {
			last := len(open[length]) - 1
			l := open[length][last]
			open[length] = open[length][:last]
			if l.node == c.target {
				if found = append(found, l); len(found) == limit {
					return sorted(found), false
				}
				continue
			}
			if (steps > maxSteps || links > maxLinks) && len(found) > 0 {
				return sorted(found), false
			}
			out := c.g.nodes[l.node].out
			steps += path.follow(l) + len(out)
			for _, a := range slices.Backward(out) {
				if c.left[a.to] < 0 || path.has(a.to) {
					continue
				}
				least := l.length + 1 + c.left[a.to]
				if links++; links > maxLinks && least > length {
					continue // it would not be come to: the search ends with the next chain
				}
				for len(open) <= least {
					open = append(open, nil)
				}
				open[least] = append(open[least], &link{node: a.to, by: a, before: l, length: l.length + 1})
			}
		}
	}
	return sorted(found), links <= maxLinks
}

// trail is the beginning of a chain that the search is at.
type trail struct {
	links []*link // by length
	at    []int32 // where each node is among them, if it is
}

func newTrail(nodes int) *trail { return &trail{at: make([]int32, nodes)} }

// follow goes to the end of another beginning, and returns how many steps that took.
func (t *trail) follow(l *link) int {
	had := min(len(t.links), l.length+1)
	t.links = slices.Grow(t.links[:had], l.length+1-had)[:l.length+1]
	steps := 0
	for ; l != nil && (l.length >= had || t.links[l.length] != l); l = l.before {
		t.links[l.length] = l
		t.at[l.node] = int32(l.length)
		steps++
	}
	return steps
}

// has reports whether a node is in it.
func (t *trail) has(node int) bool {
	at := int(t.at[node])
	return at < len(t.links) && t.links[at].node == node
}

// sorted returns chains in order of their lengths, those of one length in order of their names.
func sorted(found []*link) []*link {
	slices.SortFunc(found, func(a, b *link) int {
		if a.length != b.length {
			return a.length - b.length
		}
		order := 0
		for ; a != b; a, b = a.before, b.before { // the first step that differs is the last one seen
			if a.node != b.node {
				order = a.node - b.node
			}
		}
		return order
	})
	return found
}

// steps writes out chains.
func (c *chains) steps(found []*link) [][]Step {
	var list [][]Step
	for _, l := range found {
		var chain []Step
		for ; l.before != nil; l = l.before {
			n := &c.g.nodes[l.node]
			chain = append(chain, Step{ID: n.ID, Version: n.Version, Constraint: l.by.constraint, Dev: l.by.dev})
		}
		slices.Reverse(chain)
		list = append(list, chain)
	}
	return list
}
