package resolve

// term is a statement about a pack: that its version is in the set, or, negated, that it is not in the set or that the
// pack is not used at all.
type term struct {
	set  set
	pack int32
	not  bool
}

// anything is the statement that says nothing.
func anything(pack int32) term { return term{pack: pack, not: true} }

func (t term) inverse() term { return term{pack: t.pack, set: t.set, not: !t.not} }

// and returns the statement that both are true of the same pack.
func (t term) and(o term) term {
	switch {
	case t.not && o.not:
		return term{pack: t.pack, set: t.set.or(o.set), not: true}
	case t.not:
		return term{pack: t.pack, set: o.set.minus(t.set)}
	case o.not:
		return term{pack: t.pack, set: t.set.minus(o.set)}
	default:
		return term{pack: t.pack, set: t.set.and(o.set)}
	}
}

// verdict is what one statement says about the truth of another.
type verdict uint8

const (
	open verdict = iota
	isTrue
	isFalse
)

// says returns what t says about o.
func (t *term) says(o *term) verdict {
	switch {
	case t.not:
		if !o.set.within(t.set) {
			return open
		}
		if o.not {
			return isTrue
		}
		return isFalse
	case !t.set.meets(o.set):
		if o.not {
			return isTrue
		}
		return isFalse
	case t.set.within(o.set):
		if o.not {
			return isFalse
		}
		return isTrue
	}
	return open
}

// implies reports whether o is true whenever t is.
func (t *term) implies(o *term) bool { return t.says(o) == isTrue }

// always reports whether the statement says nothing.
func (t *term) always() bool { return t.not && t.set.empty() }

// never reports whether the statement cannot be true.
func (t *term) never() bool { return !t.not && t.set.empty() }

// rule is a list of statements of which not all may be true: PubGrub's incompatibility. Each pack is in it once.
//
// Two of the terms are watched, that is the rule is in the lists of their packs. As long as neither is true nothing
// follows from the rule, whatever becomes of the others, so that nobody need look at it.
type rule struct {
	terms []term
	watch [2]int32
	edge  *edge   // the requirement that the rule is
	from  []*rule // else the rules that it follows from
	two   [2]term // where the terms of a requirement are
}

// require makes the rule that a requirement is: whoever has it and a version that does not fit exclude each other. A
// version that is asked for later and has the same requirement makes the rule say more, never less.
func (r *rule) require(e *edge) {
	r.edge = e
	r.two = [2]term{{pack: e.by, set: e.versions}, {pack: e.target, set: e.allowed, not: true}}
	r.terms = r.two[:]
	if e.by == e.target || e.allowed.empty() {
		r.terms = r.two[:1]
	}
	r.watch[1] = int32(len(r.terms) - 1)
	r.extend()
}

// extend makes the rule speak of all versions that the requirement is known of.
func (r *rule) extend() {
	r.two[0].set = r.edge.versions
	if r.edge.by == r.edge.target {
		r.two[0].set = r.edge.versions.minus(r.edge.allowed)
	}
}

// edgesOf returns the requirements that a rule follows from.
func (r *rule) edgesOf() map[*edge]bool {
	edges := make(map[*edge]bool)
	seen := make(map[*rule]bool)
	todo := []*rule{r}
	for len(todo) > 0 {
		r := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[r] {
			continue
		}
		seen[r] = true
		if r.edge != nil {
			edges[r.edge] = true
		}
		todo = append(todo, r.from...)
	}
	return edges
}
