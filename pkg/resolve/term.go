package resolve

import (
	"iter"
	"math/bits"
)

// bitset is a set of version numbers. Sets are values: no method changes its receiver.
type bitset []uint64

// with returns the set and i.
func (b bitset) with(i int) bitset {
	out := make(bitset, max(len(b), i/64+1))
	copy(out, b)
	out[i/64] |= 1 << (i % 64)
	return out
}

func (b bitset) has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

func (b bitset) and(o bitset) bitset {
	out := make(bitset, min(len(b), len(o)))
	for i := range out {
		out[i] = b[i] & o[i]
	}
	return out
}

func (b bitset) or(o bitset) bitset {
	if len(b) < len(o) {
		b, o = o, b
	}
	out := append(bitset(nil), b...)
	for i := range o {
		out[i] |= o[i]
	}
	return out
}

// minus returns what is in b and not in o.
func (b bitset) minus(o bitset) bitset {
	out := append(bitset(nil), b...)
	for i := range min(len(b), len(o)) {
		out[i] &^= o[i]
	}
	return out
}

func (b bitset) empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

func (b bitset) within(o bitset) bool { return b.minus(o).empty() }

// all yields the numbers in ascending order.
func (b bitset) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(i*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// term is a statement about a pack: that its version is in the set, or, negated, that it is not in the set or that the
// pack is not used at all.
type term struct {
	pack int
	set  bitset
	not  bool
}

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

// implies reports whether o is true whenever t is.
func (t term) implies(o term) bool {
	switch {
	case t.not && o.not:
		return o.set.within(t.set)
	case t.not:
		return false
	case o.not:
		return t.set.and(o.set).empty()
	default:
		return t.set.within(o.set)
	}
}

// excludes reports whether t and o are never both true.
func (t term) excludes(o term) bool { return t.implies(o.inverse()) }

// always reports whether the statement says nothing.
func (t term) always() bool { return t.not && t.set.empty() }

// rule is a list of statements of which not all may be true: PubGrub's incompatibility. Each pack is in it once.
type rule struct {
	terms []term
	edge  *edge    // the requirement that the rule is
	from  [2]*rule // else the two rules that it follows from
}

// newRule joins the statements about the same pack and leaves out those that say nothing.
func newRule(terms []term, r rule) *rule {
	for _, t := range terms {
		if t.always() {
			continue
		}
		joined := false
		for i := range r.terms {
			if r.terms[i].pack == t.pack {
				r.terms[i], joined = r.terms[i].and(t), true
			}
		}
		if !joined {
			r.terms = append(r.terms, t)
		}
	}
	return &r
}

// fails reports whether the rule says that the root cannot be had.
func (r *rule) fails() bool {
	return len(r.terms) == 0 || len(r.terms) == 1 && r.terms[0].pack == rootPack && !r.terms[0].not
}

// edgesOf returns the requirements that a rule follows from.
func (r *rule) edgesOf() map[*edge]bool {
	edges := make(map[*edge]bool)
	seen := make(map[*rule]bool)
	todo := []*rule{r}
	for len(todo) > 0 {
		r := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if r == nil || seen[r] {
			continue
		}
		seen[r] = true
		if r.edge != nil {
			edges[r.edge] = true
		}
		todo = append(todo, r.from[0], r.from[1])
	}
	return edges
}
