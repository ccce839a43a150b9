package resolve

// term is a statement about a package that the solver can satisfy or contradict. A positive term says that the selected
// version is in the set. A negative term says that it is not, or that the package is not selected at all.
type term struct {
	pack     *packNode
	versions versionSet
	negative bool
}

// anyTerm returns the term that is always true.
func anyTerm(p *packNode) term { return term{pack: p, negative: true} }

func (t term) negate() term { return term{pack: t.pack, versions: t.versions, negative: !t.negative} }

// intersect returns the term that is true if both terms are. They must be about the same package.
func (t term) intersect(o term) term {
	switch {
	case t.negative && o.negative:
		return term{pack: t.pack, versions: t.versions.union(o.versions), negative: true}
	case t.negative:
		return term{pack: t.pack, versions: o.versions.minus(t.versions)}
	case o.negative:
		return term{pack: t.pack, versions: t.versions.minus(o.versions)}
	default:
		return term{pack: t.pack, versions: t.versions.intersect(o.versions)}
	}
}

// relation is what the truth of one term says about another.
type relation uint8

const (
	inconclusive relation = iota
	satisfied
	contradicted
)

// relation returns whether t satisfies or contradicts o.
func (t term) relation(o term) relation {
	switch {
	case t.satisfies(o):
		return satisfied
	case t.satisfies(o.negate()):
		return contradicted
	default:
		return inconclusive
	}
}

// satisfies reports whether o is true whenever t is.
func (t term) satisfies(o term) bool {
	switch {
	case t.negative && o.negative:
		return o.versions.subsetOf(t.versions)
	case t.negative:
		return false // t allows that the package is not selected
	case o.negative:
		return !t.versions.overlaps(o.versions)
	default:
		return t.versions.subsetOf(o.versions)
	}
}

func (t term) alwaysTrue() bool { return t.negative && t.versions.empty() }

func (t term) neverTrue() bool { return !t.negative && t.versions.empty() }

// incompatibility is a list of terms, one for each package, of which not all may be true.
type incompatibility struct {
	terms      []term
	dependency *dependency        // the cause, for an incompatibility that states a requirement
	causes     []*incompatibility // otherwise: what conflict resolution derived it from
}

// dependencies returns the requirements that the incompatibility was derived from.
func (i *incompatibility) dependencies() map[*dependency]bool {
	found := make(map[*dependency]bool)
	visited := make(map[*incompatibility]bool)
	var visit func(*incompatibility)
	visit = func(i *incompatibility) {
		if visited[i] {
			return
		}
		visited[i] = true
		if i.dependency != nil {
			found[i.dependency] = true
		}
		for _, cause := range i.causes {
			visit(cause)
		}
	}
	visit(i)
	return found
}
