package resolve

import (
	"iter"
	"slices"
)

// versionSet is a set of versions of one package: bit i stands for packNode.versions[i]. It is immutable; nil is empty.
// A search compares sets more often than it does anything else, so that comparing allocates nothing.
type versionSet []uint64

func singleVersion(i int) versionSet { return versionSet(nil).with(i) }

func (s versionSet) with(i int) versionSet {
	out := make(versionSet, max(len(s), i/64+1))
	copy(out, s)
	out[i/64] |= 1 << (i % 64)
	return out
}

// word returns the bits from 64*n on.
func (s versionSet) word(n int) uint64 {
	if n < len(s) {
		return s[n]
	}
	return 0
}

func (s versionSet) has(i int) bool { return s.word(i/64)&(1<<(i%64)) != 0 }

func (s versionSet) empty() bool { return s.subsetOf(nil) }

func (s versionSet) subsetOf(o versionSet) bool {
	for n, word := range s {
		if word&^o.word(n) != 0 {
			return false
		}
	}
	return true
}

func (s versionSet) overlaps(o versionSet) bool {
	for n, word := range s {
		if word&o.word(n) != 0 {
			return true
		}
	}
	return false
}

func (s versionSet) intersect(o versionSet) versionSet {
	out := slices.Clone(s)
	for n := range out {
		out[n] &= o.word(n)
	}
	return out
}

func (s versionSet) union(o versionSet) versionSet {
	if len(s) < len(o) {
		s, o = o, s
	}
	out := slices.Clone(s)
	for n := range o {
		out[n] |= o[n]
	}
	return out
}

func (s versionSet) minus(o versionSet) versionSet {
	out := slices.Clone(s)
	for n := range out {
		out[n] &^= o.word(n)
	}
	return out
}

// all yields the indices in ascending order, which is from the highest version of a source to its lowest.
func (s versionSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range 64 * len(s) {
			if s.has(i) && !yield(i) {
				return
			}
		}
	}
}
