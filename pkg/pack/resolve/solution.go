package resolve

import (
	"container/heap"
	"iter"
	"slices"
	"sort"
)

// assignment is a decision, or a derivation: a term that an incompatibility and earlier assignments make true.
type assignment struct {
	term
	number     int              // of assignments before it
	cause      *incompatibility // nil for a decision
	level      int              // the decision level of a decision; the highest that a derivation follows from
	sum        term             // what this and the earlier active assignments say about the package
	dependents []*assignment    // assignments that follow from this one
	undone     bool
}

// packState is what the partial solution says about one package.
type packState struct {
	*packNode
	sum               term          // what its assignments say together
	assignments       []*assignment // those that are active, oldest first
	decision          int           // the version, or -1
	level             int           // of the decisions about a package that the root requires, 0 before the first
	direct            bool          // the root requires it
	incompatibilities []*incompatibility
	changed           bool // it is in solver.changed
	queued            bool // it is in solver.queue
}

// partialSolution is all assignments. Other than the stack of the PubGrub paper, it can undo any decision with what
// follows from it and nothing else: assignments that a conflict doesn't concern stay.
type partialSolution struct {
	states    []*packState  // by packNode.index
	decisions []*assignment // by level: first the root, then in order of priority
	count     int           // of assignments so far
}

// rootLevel is the level of the root's decision and of what follows from it alone, which is never undone.
const rootLevel = 1

// state returns what is known about a package.
func (s *solver) state(p *packNode) *packState {
	for n := len(s.states); n <= p.index; n++ {
		known := s.cache.packs[n]
		s.states = append(s.states, &packState{packNode: known, sum: anyTerm(known), decision: -1})
	}
	return s.states[p.index]
}

// undecided reports whether the package is required and has no version yet.
func (p *packState) undecided() bool { return !p.sum.negative && p.decision < 0 }

func (s *solver) enqueue(p *packState) {
	if p.undecided() && !p.queued {
		p.queued = true
		heap.Push(&s.queue, p)
	}
}

// decide assigns a version. The decision follows from the assignments that require the package and from those that
// exclude better versions: when one of them is undone, the solver decides again.
func (s *solver) decide(p *packState, version int) {
	decision := &assignment{term: term{pack: p.packNode, versions: singleVersion(version)}, level: p.level}
	better := p.betterThan(version)
	required := false
	for _, a := range p.assignments {
		if requires := !required && !a.sum.negative; requires || !better.neverTrue() && !better.satisfies(a.term) {
			a.addDependent(decision)
		}
		required = !a.sum.negative
	}
	if decision.level == 0 {
		decision.level = len(s.decisions)
		s.decisions = append(s.decisions, nil)
	}
	if p.direct {
		p.level = decision.level
	}
	s.decisions[decision.level] = decision
	p.decision = version
	s.assign(p, decision)
}

// derive assigns the negation of the only term of an incompatibility that the partial solution doesn't satisfy.
func (s *solver) derive(i *incompatibility, unsatisfied term) {
	derivation := &assignment{term: unsatisfied.negate(), cause: i, level: rootLevel}
	for _, t := range i.terms {
		if t.pack == unsatisfied.pack {
			continue
		}
		for _, a := range s.support(t) {
			a.addDependent(derivation)
			derivation.level = max(derivation.level, a.level)
		}
	}
	s.assign(s.state(unsatisfied.pack), derivation)
}

func (s *solver) assign(p *packState, a *assignment) {
	p.sum = p.sum.intersect(a.term)
	a.sum, a.number = p.sum, s.count
	s.count++
	p.assignments = append(p.assignments, a)
	s.enqueue(p)
}

func (a *assignment) addDependent(dependent *assignment) {
	if a.level > rootLevel {
		a.dependents = append(a.dependents, dependent)
	}
}

// satisfier returns the assignment that, with the earlier ones, made a term true. What follows an assignment that made
// it true keeps it true.
func (s *solver) satisfier(t term) *assignment {
	assignments := s.state(t.pack).assignments
	return assignments[sort.Search(len(assignments)-1, func(i int) bool { return assignments[i].sum.satisfies(t) })]
}

// support returns the assignments that together make a term true, the satisfier first.
func (s *solver) support(t term) (list []*assignment) {
	for {
		*s.effort -= 1 + len(t.versions)
		satisfier := s.satisfier(t)
		list = append(list, satisfier)
		missing := satisfier.intersect(t.negate())
		if missing.neverTrue() {
			return list
		}
		t = missing.negate() // the earlier assignments must satisfy this
	}
}

// undo removes the decision of a level and everything that follows from it. The packages concerned are checked again:
// an incompatibility may now derive what other assignments implied before.
func (s *solver) undo(level int) {
	var remove func(*assignment)
	remove = func(a *assignment) {
		if !a.undone {
			a.undone = true
			s.change(s.state(a.pack))
			for _, dependent := range a.dependents {
				remove(dependent)
			}
		}
	}
	remove(s.decisions[level])
	s.decisions[level] = nil
	for _, p := range s.changed {
		p.rebuild()
		s.enqueue(p)
	}
}

// rebuild computes what the active assignments say.
func (p *packState) rebuild() {
	p.assignments = slices.DeleteFunc(p.assignments, func(a *assignment) bool { return a.undone })
	p.sum, p.decision = anyTerm(p.packNode), -1
	for _, a := range p.assignments {
		p.sum = p.sum.intersect(a.term)
		a.sum = p.sum
		if a.cause == nil {
			p.decision = p.best(a.versions) // its only one
		}
	}
}

// undoLater undoes the decisions of later levels that something about a package follows from. So packages that the root
// requires are decided as if one after the other, however often the solver decides one of them again.
func (s *solver) undoLater(p *packState) {
	later := func(a *assignment) bool { return p.level > 0 && a.level > p.level }
	for {
		i := slices.IndexFunc(p.assignments, later)
		if i < 0 {
			return
		}
		s.undo(p.assignments[i].level)
	}
}

// versions yields the packages that have a version, the root first.
func (s *partialSolution) versions() iter.Seq2[*packState, int] {
	return func(yield func(*packState, int) bool) {
		for _, p := range s.states {
			if p.decision >= 0 && !yield(p, p.decision) {
				return
			}
		}
	}
}
