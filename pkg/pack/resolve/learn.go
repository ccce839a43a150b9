package resolve

import "slices"

// conflictTerm is a term of the incompatibility that conflict resolution works on.
type conflictTerm struct {
	term
	satisfier *assignment
	level     int // the highest decision level that the term's truth follows from
}

// resolveConflict is conflict resolution: it finds the cause of a conflict, undoes the decision that was wrong, and
// returns the incompatibility that says so, which it adds unless it is the conflict itself. It returns nil and sets the
// failure if no decision was wrong.
func (s *solver) resolveConflict(conflict *incompatibility) *incompatibility {
	s.stats.Conflicts++
	causes := []*incompatibility{conflict}
	var terms conflictTerms
	for _, t := range conflict.terms {
		s.addTerm(&terms, t)
	}
	for !terms.excludeRoot(s.cache.root) {
		last, alone := terms.latest()
		if level := terms[last].level; alone && level > rootLevel {
			if len(causes) > 1 {
				conflict = &incompatibility{terms: terms.terms(), causes: causes}
				s.stats.Learned++
				s.addIncompatibility(conflict)
			}
			s.undo(level)
			return conflict
		}
		// Replace the term by the cause of its satisfier, the rule of resolution.
		satisfier := terms[last].satisfier
		missing := satisfier.intersect(terms[last].negate())
		terms = slices.Delete(terms, last, last+1)
		for _, t := range satisfier.cause.terms {
			if t.pack != satisfier.pack {
				s.addTerm(&terms, t)
			}
		}
		if !missing.neverTrue() {
			s.addTerm(&terms, missing.negate())
		}
		causes = append(causes, satisfier.cause)
	}
	s.failure = &incompatibility{causes: causes}
	return nil
}

// addTerm adds a term, or intersects it with the one about the same package.
func (s *solver) addTerm(terms *conflictTerms, t term) {
	i := slices.IndexFunc(*terms, func(c conflictTerm) bool { return c.pack == t.pack })
	if i >= 0 {
		t = t.intersect((*terms)[i].term)
		*terms = slices.Delete(*terms, i, i+1)
	}
	if t.alwaysTrue() {
		return
	}
	added := conflictTerm{term: t}
	for n, a := range s.support(t) {
		if n == 0 {
			added.satisfier = a
		}
		added.level = max(added.level, a.level)
	}
	*terms = append(*terms, added)
}

type conflictTerms []conflictTerm

// excludeRoot reports whether the terms say that the root has no solution.
func (c conflictTerms) excludeRoot(root *packNode) bool {
	return len(c) == 0 || len(c) == 1 && c[0].pack == root
}

// latest returns, of the terms of the highest level, the one that was satisfied last, and whether it is the only one.
func (c conflictTerms) latest() (last int, alone bool) {
	alone = true
	for i := 1; i < len(c); i++ {
		switch t, best := c[i], c[last]; {
		case t.level > best.level:
			last, alone = i, true
		case t.level == best.level:
			alone = false
			if t.satisfier.number > best.satisfier.number {
				last = i
			}
		}
	}
	return last, alone
}

func (c conflictTerms) terms() []term {
	terms := make([]term, len(c))
	for i := range c {
		terms[i] = c[i].term
	}
	return terms
}
