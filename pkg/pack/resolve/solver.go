package resolve

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// progress is what the search knows about one pack.
type progress struct {
	sum     term    // what its steps say together
	steps   []int32 // those in force
	rules   []*rule // those that watch the pack, but for
	wanted  []group // those that are requirements of it
	decided int32   // the version, or -1
	work    int32   // its statement in the analysis of a conflict, from 1 on
	level   int32   // of its decisions, for a pack that the root requires
	class   uint8   // what comes before its number in the order of decisions
	direct  bool    // the root requires it
	open    bool    // it is in the heap of open packs
	changed bool    // it is in the list of changed packs
	touched bool    // steps of it are being taken back
	renewed bool    // steps of it were taken back since its rules were looked at
}

// group is the rules of the requirements of a pack that allow the same versions.
type group struct {
	allowed set
	rules   []*rule
}

// The classes of packs, added up.
const (
	notLocked = 1
	notDirect = 2
)

// solver is the state of the search.
type solver struct {
	cat    *catalogue
	only   map[*edge]bool // the requirements that count; nil means all
	byEdge []*rule        // the rule of a requirement
	ruled  []bool         // the lists of requirements that are among the rules
	slabs  struct {
		rules  slab[rule]
		lists  slab[*rule]
		groups slab[group]
	}
	packs   []progress
	heap    []int32 // packs that are needed and not decided, and some that were
	changed []int32 // packs whose rules are to be looked at
	failure *rule
	effort  *int // how often rules may still be looked at
	work    []statement
	stats   Stats
	trail
}

// maxEffort is after how much effort a search is given up, maxExplain and maxAdvise those to explain the failure of
// one. Effort is how often a rule is looked at: a thousand packs take some thousands. There are worlds, which nobody
// has by accident, that no search of this kind is done with in a lifetime; these numbers are some seconds.
const (
	maxEffort  = 200_000_000
	maxExplain = 20_000_000
	maxAdvise  = 20_000_000
)

// errEffort says that a search was given up.
var errEffort = errors.New("too much effort")

// solve searches for a choice. Without one, failure says why.
func solve(ctx context.Context, cat *catalogue, root []Requirement, effort *int) (*solver, error) {
	return (&solver{cat: cat, effort: effort}).run(ctx, root)
}

// solveOnly searches for a choice when only some requirements count.
func solveOnly(ctx context.Context, cat *catalogue, root []Requirement, only map[*edge]bool, effort *int) (*solver,
	error,
) {
	return (&solver{cat: cat, only: only, effort: effort}).run(ctx, root)
}

// run searches. It returns the solver with an error too.
func (s *solver) run(ctx context.Context, root []Requirement) (*solver, error) {
	s.taken = make([]int32, 1)
	s.pack(rootPack)
	list, at, err := s.cat.setRequirements(ctx, rootPack, 0, root)
	if err != nil {
		return s, s.explainError(rootPack, err, at)
	}
	for _, e := range *s.cat.lists.at(list) {
		if s.only == nil || s.only[e] {
			p := s.pack(e.target)
			p.direct, p.class = true, p.class%notDirect
		}
	}
	for next := int32(rootPack); next >= 0; next = s.choose() {
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		if err := s.decide(ctx, next); err != nil {
			return s, err
		}
		if ok, err := s.propagate(ctx, next); err != nil || !ok {
			return s, err
		}
	}
	return s, nil
}

// pack returns what is known of a pack. The pointer is good until the next pack is met.
func (s *solver) pack(p int32) *progress {
	for int(p) >= len(s.packs) {
		n := len(s.packs)
		s.packs = append(roomy(s.packs), progress{sum: anything(int32(n)), decided: -1, class: notDirect})
		if !s.cat.packs[n].locked {
			s.packs[n].class += notLocked
		}
	}
	return &s.packs[p]
}

// decide takes the best version of a pack, if its requirements do not exclude it at once.
func (s *solver) decide(ctx context.Context, p int32) error {
	v := 0
	if p != rootPack {
		s.free(p)
		v = s.cat.packs[p].best(s.packs[p].sum.set)
	}
	edges, err := s.requirements(ctx, p, v)
	if err != nil {
		return err
	}
	for _, e := range edges {
		if r := s.ruleOf(e); r != nil && p != rootPack && s.excluded(r, p, v) {
			return nil // what propagation finds out first
		}
	}
	s.stats.Decisions++
	s.take(p, v)
	return nil
}

// excluded reports whether a rule says that p is not v, since everything else in it is true.
func (s *solver) excluded(r *rule, p int32, v int) bool {
	about := term{pack: p, set: one(v)}
	for i := range r.terms {
		t := &r.terms[i]
		have := &s.packs[t.pack].sum
		if t.pack == p {
			have = &about
		}
		if !have.implies(t) {
			return false
		}
	}
	return true
}

// requirements makes rules of what a version requires.
func (s *solver) requirements(ctx context.Context, p int32, v int) ([]*edge, error) {
	if s.only != nil && s.cat.packs[p].versions[v].requires == 0 {
		return nil, nil // none of the requirements that count are its
	}
	list, at, err := s.cat.requirements(ctx, p, v)
	if err != nil {
		return nil, s.explainError(p, err, at)
	}
	edges := *s.cat.lists.at(list)
	for int(list) >= len(s.ruled) {
		s.ruled = append(roomy(s.ruled), false)
	}
	if s.ruled[list] {
		return edges, nil
	}
	s.ruled[list] = true
	for _, e := range edges {
		if s.only == nil || s.only[e] {
			s.rule(e)
		}
	}
	return edges, nil
}

// rule makes a rule of a requirement, or adds to it the versions that have the requirement too.
func (s *solver) rule(e *edge) {
	r := s.ruleOf(e)
	if r != nil {
		r.extend()
		return
	}
	for int(e.number) >= len(s.byEdge) {
		s.byEdge = append(roomy(s.byEdge), nil)
	}
	r = s.slabs.rules.next()
	r.require(e)
	s.byEdge[e.number] = r
	by := s.pack(e.by)
	by.rules = s.slabs.lists.add(by.rules, r)
	target := s.pack(e.target)
	if len(r.terms) > 1 {
		for int(e.group) >= len(target.wanted) {
			target.wanted = s.slabs.groups.add(target.wanted, group{})
		}
		g := &target.wanted[e.group]
		g.allowed, g.rules = e.allowed, s.slabs.lists.add(g.rules, r)
	}
}

func (s *solver) ruleOf(e *edge) *rule {
	if int(e.number) < len(s.byEdge) {
		return s.byEdge[e.number]
	}
	return nil
}

// add puts a rule into the lists of the packs that it watches.
func (s *solver) add(r *rule) {
	s.follows(r, r.watch[0])
	if r.watch[1] != r.watch[0] {
		s.follows(r, r.watch[1])
	}
}

func (s *solver) follows(r *rule, term int32) {
	p := s.pack(r.terms[term].pack)
	p.rules = s.slabs.lists.add(p.rules, r)
}

// propagate derives what follows from the rules about a pack, and from what that changes. It returns false, with the
// failure, when nothing can be chosen.
func (s *solver) propagate(ctx context.Context, p int32) (bool, error) {
	s.change(p)
	for at := 0; at < len(s.changed); at++ {
		p := s.changed[at]
		s.packs[p].changed = false
		conflict := s.visit(p)
		if conflict == nil {
			continue
		}
		if ctx.Err() != nil || *s.effort < 0 {
			return false, cmp.Or(ctx.Err(), errEffort)
		}
		if !s.turn(conflict) {
			return false, nil
		}
		s.change(p) // the rest of its rules
	}
	s.changed = s.changed[:0]
	return true, nil
}

// visit looks at the rules that watch a pack, what was learnt last first, and at those that are requirements of it,
// until one of them is a conflict.
func (s *solver) visit(p int32) (conflict *rule) {
	*s.effort -= len(s.packs[p].rules) + len(s.packs[p].wanted)
	for i := len(s.packs[p].rules) - 1; i >= 0; i-- {
		r := s.packs[p].rules[i]
		mine := 0
		if r.terms[r.watch[0]].pack != p {
			mine = 1
		}
		switch moved, conflict := s.look(r, mine); {
		case conflict:
			return r
		case moved:
			rules := s.packs[p].rules
			rules[i] = rules[len(rules)-1]
			s.packs[p].rules = rules[:len(rules)-1]
		}
	}
	return s.visitWanted(p)
}

// visitWanted looks at the requirements of a pack that are not met any more; and, when something about the pack was
// taken back, at those that are open again.
func (s *solver) visitWanted(p int32) (conflict *rule) {
	for i := range s.packs[p].wanted {
		g := &s.packs[p].wanted[i]
		unmet := term{set: g.allowed, not: true}
		if is := s.packs[p].sum.says(&unmet); is == isFalse || is == open && !s.packs[p].renewed {
			continue
		}
		*s.effort -= len(g.rules)
		for _, r := range g.rules {
			if s.derive(r) {
				return r
			}
		}
	}
	s.packs[p].renewed = false
	return nil
}

// look derives what follows from a rule when something is new about one of the two terms that it watches. A term that
// is true is watched no longer if there is one that is not, to which the watch is then moved.
func (s *solver) look(r *rule, mine int) (moved, conflict bool) {
	term, other := &r.terms[r.watch[mine]], &r.terms[r.watch[1-mine]]
	is, otherIs := s.verdict(term), s.verdict(other)
	switch {
	case len(r.terms) <= 2:
		return false, s.derive(r)
	case is == isFalse || otherIs == isFalse || is == open && otherIs == open:
		return false, false
	}
	for i := range int32(len(r.terms)) {
		if i == r.watch[0] || i == r.watch[1] || s.verdict(&r.terms[i]) == isTrue {
			continue
		}
		if is != isTrue {
			s.change(other.pack) // the other watch is to be moved
			return false, false
		}
		r.watch[mine] = i
		s.follows(r, i)
		return true, false
	}
	return false, s.derive(r)
}

func (s *solver) verdict(t *term) verdict { return s.packs[t.pack].sum.says(t) }

// turn learns from a conflict until nothing contradicts what was learnt. It returns false, with the failure, when no
// decision is left to blame.
func (s *solver) turn(r *rule) bool {
	for conflict := true; conflict; conflict = s.derive(r) {
		if r = s.resolve(r); r == nil {
			return false
		}
	}
	return true
}

// change notes that something new is known about a pack.
func (s *solver) change(p int32) {
	if !s.packs[p].changed {
		s.packs[p].changed = true
		s.changed = append(s.changed, p)
	}
}

// derive looks at one rule: when all its statements are true it returns true, which is a conflict; when all but one
// are, the opposite of that one follows.
func (s *solver) derive(r *rule) (conflict bool) {
	var left *term
	for i := range r.terms {
		t := &r.terms[i]
		switch s.packs[t.pack].sum.says(t) {
		case isFalse:
			return false
		case open:
			if left != nil {
				return false
			}
			left = t
		}
	}
	if left == nil {
		return true
	}
	s.infer(r, left)
	s.change(left.pack)
	return false
}

// explainError adds to an error of the world who wanted to know.
func (s *solver) explainError(p int32, err error, req *Requirement) error {
	chain := s.chain(p)
	if req != nil {
		chain = append(chain, *req)
	}
	if len(chain) < 2 {
		return err
	}
	parts := make([]string, len(chain))
	for i, r := range chain {
		parts[i] = r.String()
	}
	e := diag.Errorf(diag.CodeOf(err), "%w (required by %s)", err,
		strings.Join(parts[:len(parts)-1], ", which requires "))
	if hint := diag.HintOf(err); hint != "" {
		e = e.WithHint("%s", hint)
	}
	return e
}

// chain returns the fewest requirements that lead from the root to a pack, of those that are in force.
func (s *solver) chain(p int32) []Requirement {
	before := map[int32]*edge{rootPack: nil}
	todo := []int32{rootPack}
	for len(todo) > 0 && before[p] == nil {
		by := todo[0]
		todo = todo[1:]
		for _, e := range s.cat.packs[by].out {
			if _, seen := before[e.target]; !seen && !s.packs[by].sum.not && e.versions.meets(s.packs[by].sum.set) {
				before[e.target] = e
				todo = append(todo, e.target)
			}
		}
	}
	var chain []Requirement
	for e := before[p]; e != nil; e = before[e.by] {
		chain = append(chain, e.req)
	}
	slices.Reverse(chain)
	return chain
}
