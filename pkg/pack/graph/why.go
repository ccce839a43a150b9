package graph

import (
	"cmp"
	"slices"

	"github.com/skillpm/skillpm/pkg/pack"
)

// MaxChains is how many chains Why returns at most.
const MaxChains = 20

// The limits of Why. Without cycles it counts the chains and enumerates those that it returns; with cycles it can only
// count what it enumerates.
const (
	maxCount      = 1_000_000 // chains counted
	maxEnumerated = 1_000     // chains enumerated if there are cycles
	maxPrefixes   = 200_000   // beginnings of chains in memory
	maxSteps      = 4_000_000 // steps along these after the first chain
)

// Step is one pack of a chain.
type Step struct {
	ID         pack.ID
	Version    string
	Constraint string // of the pack before
	Dev        bool   // the pack before is the manifest, and requires it for development only
}

// Reasons explain why a pack is required.
type Reasons struct {
	// Chains lead from the manifest to the pack: the shortest first, then by names. No pack is in one of them twice.
	// The manifest is left out.
	Chains [][]Step
	More   int  // how many other chains there are
	Open   bool // there are more than that
}

// Why returns the chains of requirements that lead from the manifest to a pack: none if it is not required.
func (g *Graph) Why(id pack.ID) Reasons {
	pk := g.find(id)
	if pk < 0 || g.root < 0 {
		return Reasons{}
	}
	s := &chainSearch{g: g, pack: pk, remaining: g.distances(pk, dependents)}
	if s.remaining[g.root] < 0 {
		return Reasons{}
	}
	total, acyclic := s.count()
	limit := maxEnumerated
	if acyclic {
		limit = MaxChains
	}
	found, all := s.enumerate(limit)
	if !acyclic {
		total = len(found)
	}
	var r Reasons
	for _, p := range found[:min(len(found), MaxChains)] {
		r.Chains = append(r.Chains, s.steps(p))
	}
	r.More = total - len(r.Chains)
	r.Open = acyclic && total >= maxCount || !acyclic && !all
	return r
}

// chainSearch finds chains from the root to a pack.
type chainSearch struct {
	g         *Graph
	pack      int
	remaining []int // steps from each node to the pack, -1 if no chain leads there
}

// count returns how many chains there are, at most maxCount, if they have no cycles.
func (s *chainSearch) count() (total int, acyclic bool) {
	order, cycles := s.g.topological([]int{s.g.root}, func(a arc) bool { return s.remaining[a.to] >= 0 })
	if len(cycles) > 0 {
		return 0, false
	}
	chains := make([]int, len(s.g.nodes)) // from the root to each node
	chains[s.g.root] = 1
	for _, i := range order {
		for _, a := range s.g.nodes[i].out {
			chains[a.to] = min(chains[a.to]+chains[i], maxCount)
		}
	}
	return chains[s.pack], true
}

// prefix is the beginning of a chain, as its last node and the prefix before it.
type prefix struct {
	node   int
	via    arc
	before *prefix
	length int
}

func (p *prefix) contains(node int) bool {
	for ; p != nil; p = p.before {
		if p.node == node {
			return true
		}
	}
	return false
}

// enumerate returns chains, the shortest first, and whether these are all. It extends prefixes in order of the least
// length that their chains can have. So it reaches the first chain directly, and only the limits stop it after that.
func (s *chainSearch) enumerate(limit int) (found []*prefix, all bool) {
	byLength := make([][]*prefix, s.remaining[s.g.root]+1)
	byLength[len(byLength)-1] = []*prefix{{node: s.g.root}}
	prefixes, steps := 0, 0
	for length := 0; length < len(byLength); length++ {
		for len(byLength[length]) > 0 {
			last := len(byLength[length]) - 1
			p := byLength[length][last]
			byLength[length] = byLength[length][:last]
			if p.node == s.pack {
				found = append(found, p)
			}
			if len(found) == limit || len(found) > 0 && (steps > maxSteps || prefixes > maxPrefixes) {
				return sortChains(found), false
			}
			if p.node == s.pack {
				continue
			}
			for _, a := range slices.Backward(s.g.nodes[p.node].out) {
				if len(found) > 0 {
					steps += p.length // what contains looks at
				}
				if s.remaining[a.to] < 0 || p.contains(a.to) {
					continue
				}
				next := &prefix{node: a.to, via: a, before: p, length: p.length + 1}
				least := next.length + s.remaining[a.to]
				for len(byLength) <= least {
					byLength = append(byLength, nil)
				}
				byLength[least] = append(byLength[least], next)
				prefixes++
			}
		}
	}
	return sortChains(found), true
}

// sortChains sorts chains by length, then by names.
func sortChains(found []*prefix) []*prefix {
	slices.SortFunc(found, func(a, b *prefix) int {
		if a.length != b.length {
			return a.length - b.length
		}
		order := 0
		for ; a != b; a, b = a.before, b.before { // the last difference found is the first step that differs
			order = cmp.Or(a.node-b.node, order)
		}
		return order
	})
	return found
}

func (s *chainSearch) steps(p *prefix) (chain []Step) {
	for ; p.before != nil; p = p.before {
		n := &s.g.nodes[p.node]
		chain = append(chain, Step{ID: n.ID, Version: n.Version, Constraint: p.via.constraint, Dev: p.via.dev})
	}
	slices.Reverse(chain)
	return chain
}
