package resolve

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// solver is the state of one search.
type solver struct {
	partialSolution
	cache   *providerCache
	only    map[*dependency]bool // the requirements that count; nil: all
	added   map[*incompatibility]bool
	queue   packQueue
	changed []*packState     // packages whose incompatibilities unit propagation must check
	failure *incompatibility // why there is no solution; nil: there is one
	effort  *int             // how many incompatibilities may still be checked
	stats   Stats
}

// maxEffort is the effort after which a search gives up; maxExplainEffort and maxAdviceEffort limit the searches that
// explain a failure. Effort is the number of incompatibilities that unit propagation checks: a thousand packs take some
// thousands. What else grows with the number of versions counts too, by its time: comparing large sets, finding the
// cause of a conflict, and comparing versions with a range. There are dependency graphs, which nobody has by accident,
// that take any such search a lifetime. These numbers are some seconds.
const (
	maxEffort        = 50_000_000
	maxExplainEffort = 10_000_000
	maxAdviceEffort  = 10_000_000

	rangeEffort = 5 // of comparing a version with a range
)

// errEffort reports that the search gave up.
var errEffort = errors.New("too much effort")

// solve searches for a solution that meets the requirements of the root, or those in only. If there is none, failure
// says why. It returns the solver with an error too.
func solve(ctx context.Context, cache *providerCache, root []Requirement, only map[*dependency]bool, effort *int) (
	*solver, error,
) {
	s := &solver{cache: cache, only: only, added: make(map[*incompatibility]bool), effort: effort}
	s.decisions = make([]*assignment, rootLevel)
	dependencies, at, err := cache.addDependencies(ctx, cache.root, 0, root)
	if err != nil {
		return s, s.explainError(cache.root, err, at)
	}
	for _, d := range dependencies {
		if s.counts(d) {
			s.state(d.target).direct = true
		}
	}
	for next := s.state(cache.root); next != nil; next = s.nextUndecided() {
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		if err := s.chooseVersion(ctx, next); err != nil {
			return s, err
		}
		if err := s.propagate(ctx, next); err != nil || s.failure != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *solver) counts(d *dependency) bool { return s.only == nil || s.only[d] }

// nextUndecided returns the package to decide next, nil if every required package has a version.
func (s *solver) nextUndecided() *packState {
	for len(s.queue) > 0 {
		if s.queue[0].undecided() {
			return s.queue[0]
		}
		heap.Pop(&s.queue).(*packState).queued = false
	}
	return nil
}

// packQueue is a heap of the packages that may be undecided.
type packQueue []*packState

func (q packQueue) Len() int           { return len(q) }
func (q packQueue) Less(i, j int) bool { return q[i].compare(q[j]) < 0 }
func (q packQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *packQueue) Push(p any)        { *q = append(*q, p.(*packState)) }

func (q *packQueue) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	*q = (*q)[:last]
	return p
}

// compare orders packages by when they are decided: first those that the root requires, then those in the lock, then
// those that were found first. Requirements are read in order of ids.
func (p *packState) compare(o *packState) int {
	last := func(later bool) int {
		if later {
			return 1
		}
		return 0
	}
	return cmp.Or(last(!p.direct)-last(!o.direct), last(!p.locked)-last(!o.locked), p.index-o.index)
}

// chooseVersion decides a package and adds the incompatibilities of the version. If these exclude the version at once,
// it doesn't decide: unit propagation derives that the version is impossible.
func (s *solver) chooseVersion(ctx context.Context, p *packState) error {
	s.undoLater(p)
	version := 0
	if p.packNode != s.cache.root {
		version = p.best(p.sum.versions)
	}
	dependencies, err := s.addIncompatibilities(ctx, p, version)
	if err != nil {
		return err
	}
	for _, d := range dependencies {
		if s.counts(d) && p.packNode != s.cache.root && s.excludes(&d.incompatibility, p, version) {
			return nil
		}
	}
	s.stats.Decisions++
	s.decide(p, version)
	return nil
}

// excludes reports whether all terms of an incompatibility are true if the package has the version.
func (s *solver) excludes(i *incompatibility, p *packState, version int) bool {
	return !slices.ContainsFunc(i.terms, func(t term) bool {
		if t.pack == p.packNode {
			return !t.versions.has(version)
		}
		return !s.state(t.pack).sum.satisfies(t)
	})
}

// addIncompatibilities adds what a version requires to the incompatibilities of the search.
func (s *solver) addIncompatibilities(ctx context.Context, p *packState, version int) ([]*dependency, error) {
	if s.only != nil && !p.versions[version].loaded {
		return nil, nil // none of the requirements that count is its own
	}
	compared := s.cache.compared
	dependencies, at, err := s.cache.dependenciesOf(ctx, p.packNode, version)
	*s.effort -= rangeEffort * (s.cache.compared - compared)
	if err != nil {
		return nil, s.explainError(p.packNode, err, at)
	}
	for _, d := range dependencies {
		if s.counts(d) {
			s.addIncompatibility(&d.incompatibility)
		}
	}
	return dependencies, nil
}

func (s *solver) addIncompatibility(i *incompatibility) {
	if s.added[i] {
		return
	}
	s.added[i] = true
	for _, t := range i.terms {
		p := s.state(t.pack)
		p.incompatibilities = append(p.incompatibilities, i)
	}
}

// change makes unit propagation check the incompatibilities of a package.
func (s *solver) change(p *packState) {
	if !p.changed {
		p.changed = true
		s.changed = append(s.changed, p)
	}
}

// propagate is unit propagation: it derives what follows from the incompatibilities of a package, and from what that
// changes. If there is no solution it sets the failure.
func (s *solver) propagate(ctx context.Context, p *packState) error {
	s.change(p)
	for len(s.changed) > 0 {
		p := s.changed[0]
		s.changed, p.changed = s.changed[1:], false
		conflict := s.propagatePack(p)
		if conflict == nil {
			continue
		}
		if ctx.Err() != nil || *s.effort < 0 {
			return cmp.Or(ctx.Err(), errEffort)
		}
		for contradicted := true; contradicted; contradicted = s.check(conflict) {
			if conflict = s.resolveConflict(conflict); conflict == nil {
				return nil
			}
		}
		s.change(p) // the rest of its incompatibilities
	}
	return nil
}

// propagatePack checks the incompatibilities of a package, the newest first, until one of them is a conflict.
func (s *solver) propagatePack(p *packState) (conflict *incompatibility) {
	*s.effort -= len(p.incompatibilities) * (1 + len(p.versions)/64)
	for _, i := range slices.Backward(p.incompatibilities) {
		if s.check(i) {
			return i
		}
	}
	return nil
}

// check reports whether the partial solution satisfies all terms of an incompatibility, which is a conflict. If it
// satisfies all but one, check derives the negation of that one.
func (s *solver) check(i *incompatibility) (conflict bool) {
	var unsatisfied *term
	for n := range i.terms {
		t := &i.terms[n]
		switch s.state(t.pack).sum.relation(*t) {
		case contradicted:
			return false
		case inconclusive:
			if unsatisfied != nil {
				return false
			}
			unsatisfied = t
		}
	}
	if unsatisfied == nil {
		return true
	}
	s.derive(i, *unsatisfied)
	s.change(s.state(unsatisfied.pack))
	return false
}

// explainError adds to an error of the provider which requirements led to it.
func (s *solver) explainError(p *packNode, err error, last *Requirement) error {
	chain := s.requirementsTo(p)
	if last != nil {
		chain = append(chain, *last)
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

// requirementsTo returns the shortest chain of active requirements from the root to a package.
func (s *solver) requirementsTo(p *packNode) (chain []Requirement) {
	via := map[*packNode]*dependency{s.cache.root: nil}
	for queue := []*packNode{s.cache.root}; len(queue) > 0 && via[p] == nil; queue = queue[1:] {
		sum := s.state(queue[0]).sum
		for _, d := range queue[0].dependencies {
			if _, visited := via[d.target]; !visited && !sum.negative && d.versions.overlaps(sum.versions) {
				via[d.target] = d
				queue = append(queue, d.target)
			}
		}
	}
	for d := via[p]; d != nil; d = via[d.dependent] {
		chain = append(chain, d.requirement)
	}
	slices.Reverse(chain)
	return chain
}
