package resolve

import (
	"context"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// assignment is one step of the solution: a decision, or a statement that follows from a rule and the steps before.
type assignment struct {
	term
	level int
	cause *rule // nil for a decision
}

// solver is the state of the search. Steps are in order; sum holds for each pack what its steps say together.
type solver struct {
	cat     *catalogue
	only    map[*edge]bool // the requirements that count; nil means all
	rules   map[int][]*rule
	ruled   map[[2]int]bool // pack and version whose requirements are among the rules
	steps   []assignment
	sum     map[int]term
	decided map[int]int
	direct  map[source.ID]bool // what the root requires
	level   int
	failure *rule
}

// solve searches for a choice. Without one, failure says why.
func solve(ctx context.Context, cat *catalogue, root []Requirement) (*solver, error) {
	return newSolver(cat, nil).run(ctx, root)
}

func newSolver(cat *catalogue, only map[*edge]bool) *solver {
	return &solver{
		cat: cat, only: only, rules: make(map[int][]*rule), ruled: make(map[[2]int]bool),
		sum: make(map[int]term), decided: make(map[int]int), direct: make(map[source.ID]bool),
	}
}

func (s *solver) run(ctx context.Context, root []Requirement) (*solver, error) {
	s.cat.packs[rootPack].versions[0].requires = root
	for _, r := range root {
		s.direct[r.Pack] = true
	}
	s.assign(term{pack: rootPack, set: bitset(nil).with(0)}, nil)
	for next := rootPack; next >= 0; {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := s.decide(ctx, next); err != nil {
			return nil, err
		}
		if !s.propagate(next) {
			return s, nil
		}
		next = s.choose()
	}
	return s, nil
}

// choose returns a pack that is needed and not decided: one that the root requires before others, in order of ids.
// It returns -1 when there is none.
func (s *solver) choose() int {
	best := -1
	for p, t := range s.sum {
		if _, done := s.decided[p]; t.not || done {
			continue
		}
		if best < 0 || s.before(p, best) {
			best = p
		}
	}
	return best
}

func (s *solver) before(a, b int) bool {
	pa, pb := s.cat.packs[a], s.cat.packs[b]
	if da, db := s.direct[pa.id], s.direct[pb.id]; da != db {
		return da
	}
	return pa.name < pb.name
}

// decide takes the best version of a pack, if its requirements do not exclude it at once.
func (s *solver) decide(ctx context.Context, p int) error {
	v := 0
	if p != rootPack {
		v = s.cat.best(p, s.sum[p].set)
	}
	fresh, err := s.learnRequirements(ctx, p, v)
	if err != nil {
		return err
	}
	for _, r := range fresh {
		if s.excluded(r, p) {
			return nil // what propagation finds out first
		}
	}
	s.level++
	s.decided[p] = v
	s.assign(term{pack: p, set: bitset(nil).with(v)}, nil)
	return nil
}

// excluded reports whether everything in a rule is true but what it says about p.
func (s *solver) excluded(r *rule, p int) bool {
	return !slices.ContainsFunc(r.terms, func(t term) bool { return t.pack != p && !s.about(t.pack).implies(t) })
}

// learnRequirements makes rules of what a version requires, once, and returns them.
func (s *solver) learnRequirements(ctx context.Context, p, v int) ([]*rule, error) {
	if s.ruled[[2]int{p, v}] {
		return nil, nil
	}
	if s.only != nil && !s.cat.packs[p].versions[v].known {
		return nil, nil // none of the requirements that count are its
	}
	requirements, err := s.cat.requirements(ctx, p, v)
	if err != nil {
		return nil, s.explainError(p, err, nil)
	}
	s.ruled[[2]int{p, v}] = true
	var fresh []*rule
	for _, req := range requirements {
		if s.only != nil && !s.only[s.cat.edges[edgeKey{by: p, req: req}]] {
			continue
		}
		e, err := s.cat.require(ctx, p, v, req)
		if err != nil {
			return nil, s.explainError(p, err, &req)
		}
		r := newRule([]term{
			{pack: p, set: bitset(nil).with(v)}, {pack: e.target, set: e.allowed, not: true},
		}, rule{edge: e})
		if len(r.terms) == 1 && r.terms[0].set.empty() {
			continue // a version that requires itself
		}
		s.add(r)
		fresh = append(fresh, r)
	}
	return fresh, nil
}

func (s *solver) add(r *rule) {
	for _, t := range r.terms {
		s.rules[t.pack] = append(s.rules[t.pack], r)
	}
}

// about returns what the steps say of a pack.
func (s *solver) about(p int) term {
	if t, ok := s.sum[p]; ok {
		return t
	}
	return term{pack: p, not: true}
}

func (s *solver) assign(t term, cause *rule) {
	s.steps = append(s.steps, assignment{term: t, level: s.level, cause: cause})
	s.sum[t.pack] = s.about(t.pack).and(t)
}

// propagate derives what follows from the rules about a pack, and from what that changes. It returns false, with the
// failure, when nothing can be chosen.
func (s *solver) propagate(p int) bool {
	changed := []int{p}
	for len(changed) > 0 {
		p, changed = changed[0], changed[1:]
		rules := s.rules[p]
		for _, rule := range slices.Backward(rules) {
			derived, conflict := s.derive(rule)
			if conflict {
				learnt := s.resolve(rule)
				if learnt == nil {
					return false
				}
				next, _ := s.derive(learnt)
				changed = []int{next}
				break
			}
			if derived >= 0 && !slices.Contains(changed, derived) {
				changed = append(changed, derived)
			}
		}
	}
	return true
}

// derive looks at one rule: when all its statements are true that is a conflict, when all but one are, the opposite of
// that one follows, and its pack is returned. Else it returns -1.
func (s *solver) derive(r *rule) (pack int, conflict bool) {
	var open *term
	for i, t := range r.terms {
		switch have := s.about(t.pack); {
		case have.excludes(t):
			return -1, false
		case have.implies(t):
		case open != nil:
			return -1, false
		default:
			open = &r.terms[i]
		}
	}
	if open == nil {
		return -1, true
	}
	s.assign(open.inverse(), r)
	return open.pack, false
}

// resolve finds the root of a conflict, goes back to before the decision that it shows to be wrong, and returns the
// rule that says so. It returns nil, with the failure, when no decision is left to blame.
func (s *solver) resolve(r *rule) *rule {
	for learnt := false; !r.fails(); learnt = true {
		recent, previous := s.blame(r)
		step := s.steps[recent.step]
		if previous < step.level || step.cause == nil {
			s.backtrack(previous)
			if learnt {
				s.add(r)
			}
			return r
		}
		var terms []term
		for _, t := range r.terms {
			if t.pack != recent.pack {
				terms = append(terms, t)
			}
		}
		for _, t := range step.cause.terms {
			if t.pack != recent.pack {
				terms = append(terms, t)
			}
		}
		if recent.rest != nil {
			terms = append(terms, recent.rest.inverse())
		}
		r = newRule(terms, rule{from: [2]*rule{r, step.cause}})
	}
	s.failure = r
	return nil
}

// blamed is the statement of a rule that became true last.
type blamed struct {
	pack int
	step int
	rest *term // what the step alone does not say of the statement, inverted; nil when it says all
}

// blame returns the statement of a rule that became true last, and the level at which the others were true already.
func (s *solver) blame(r *rule) (recent blamed, previous int) {
	recent.step, previous = -1, 1
	for _, t := range r.terms {
		at := s.satisfier(t)
		if at <= recent.step {
			previous = max(previous, s.steps[at].level)
			continue
		}
		if recent.step >= 0 {
			previous = max(previous, s.steps[recent.step].level)
		}
		recent = blamed{pack: t.pack, step: at}
		if rest := s.steps[at].and(t.inverse()); rest.not || !rest.set.empty() {
			recent.rest = &rest
		}
	}
	if recent.rest != nil {
		previous = max(previous, s.steps[s.satisfier(recent.rest.inverse())].level)
	}
	return recent, previous
}

// satisfier returns the first step after which a statement is true.
func (s *solver) satisfier(t term) int {
	have := term{pack: t.pack, not: true}
	for i, step := range s.steps {
		if step.pack != t.pack {
			continue
		}
		if have = have.and(step.term); have.implies(t) {
			return i
		}
	}
	return 0 // not reached: only statements that are true are asked for
}

// backtrack takes back all steps above a level.
func (s *solver) backtrack(level int) {
	s.level = level
	keep := slices.IndexFunc(s.steps, func(a assignment) bool { return a.level > level })
	if keep < 0 {
		return
	}
	s.steps = s.steps[:keep]
	clear(s.sum)
	clear(s.decided)
	for _, step := range s.steps {
		s.sum[step.pack] = s.about(step.pack).and(step.term)
		if step.cause == nil && step.level > 0 {
			for v := range step.set.all() {
				s.decided[step.pack] = v
			}
		}
	}
}

// explainError adds to an error of the world who wanted to know.
func (s *solver) explainError(p int, err error, req *Requirement) error {
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
	e := diag.Errorf(diag.CodeOf(err), "%w (required by %s)", err, strings.Join(parts[:len(parts)-1], ", which requires "))
	if hint := diag.HintOf(err); hint != "" {
		e = e.WithHint("%s", hint)
	}
	return e
}

// chain returns the requirements that lead from the root to a pack.
func (s *solver) chain(p int) []Requirement {
	var chain []Requirement
	seen := make(map[int]bool)
	for p != rootPack && !seen[p] {
		seen[p] = true
		i := slices.IndexFunc(s.steps, func(a assignment) bool {
			return a.pack == p && !a.not && a.cause != nil && a.cause.edge != nil
		})
		if i < 0 {
			break
		}
		e := s.steps[i].cause.edge
		chain, p = append(chain, e.req), e.by
	}
	slices.Reverse(chain)
	return chain
}
