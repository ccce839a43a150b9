package resolve

import (
	"iter"
	"math/bits"
	"slices"
)

// set is a set of version numbers. Those below 64 are in one word, so that most sets take no memory of their own. Sets
// are values: no method but add changes its receiver.
type set struct {
	word uint64
	rest *[]uint64 // the numbers from 64 on; nil for none
}

func (s set) more() []uint64 {
	if s.rest == nil {
		return nil
	}
	return *s.rest
}

// one returns the set of i alone.
func one(i int) set {
	var s set
	s.add(i)
	return s
}

// add puts i into a set that nobody else holds yet.
func (s *set) add(i int) {
	if i < 64 {
		s.word |= 1 << i
		return
	}
	if s.rest == nil {
		s.rest = new([]uint64)
	}
	for len(*s.rest) <= i/64-1 {
		*s.rest = append(*s.rest, 0)
	}
	(*s.rest)[i/64-1] |= 1 << (i % 64)
}

// with returns the set and i.
func (s set) with(i int) set {
	if s.has(i) {
		return s
	}
	if i >= 64 && s.rest != nil {
		more := slices.Clone(*s.rest)
		s.rest = &more
	}
	s.add(i)
	return s
}

func (s set) has(i int) bool {
	if i < 64 {
		return s.word&(1<<i) != 0
	}
	more := s.more()
	return i/64-1 < len(more) && more[i/64-1]&(1<<(i%64)) != 0
}

func (s set) and(o set) set {
	out := set{word: s.word & o.word}
	if s.rest != nil && o.rest != nil {
		more := make([]uint64, min(len(*s.rest), len(*o.rest)))
		for i := range more {
			more[i] = (*s.rest)[i] & (*o.rest)[i]
		}
		out.rest = &more
	}
	return out
}

func (s set) or(o set) set {
	out := set{word: s.word | o.word}
	if s.rest != nil || o.rest != nil {
		long, short := s.more(), o.more()
		if len(long) < len(short) {
			long, short = short, long
		}
		more := slices.Clone(long)
		for i := range short {
			more[i] |= short[i]
		}
		out.rest = &more
	}
	return out
}

// minus returns what is in s and not in o.
func (s set) minus(o set) set {
	out := set{word: s.word &^ o.word}
	if s.rest != nil {
		more, without := slices.Clone(*s.rest), o.more()
		for i := range min(len(more), len(without)) {
			more[i] &^= without[i]
		}
		out.rest = &more
	}
	return out
}

func (s set) empty() bool {
	if s.word != 0 {
		return false
	}
	for _, w := range s.more() {
		if w != 0 {
			return false
		}
	}
	return true
}

// within reports whether everything in s is in o.
func (s set) within(o set) bool {
	if s.word&^o.word != 0 {
		return false
	}
	return s.rest == nil || s.moreWithin(o.more())
}

func (s set) moreWithin(o []uint64) bool {
	for i, w := range *s.rest {
		if i < len(o) {
			w &^= o[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// meets reports whether something is in both.
func (s set) meets(o set) bool {
	if s.word&o.word != 0 {
		return true
	}
	return s.rest != nil && o.rest != nil && s.moreMeets(*o.rest)
}

func (s set) moreMeets(o []uint64) bool {
	for i, w := range *s.rest {
		if i < len(o) && w&o[i] != 0 {
			return true
		}
	}
	return false
}

// first returns the lowest number, -1 for the empty set.
func (s set) first() int {
	for i := range s.all() {
		return i
	}
	return -1
}

// all yields the numbers in ascending order.
func (s set) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w := s.word; w != 0; w &= w - 1 {
			if !yield(bits.TrailingZeros64(w)) {
				return
			}
		}
		for i, w := range s.more() {
			for ; w != 0; w &= w - 1 {
				if !yield((i+1)*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
