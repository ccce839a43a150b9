package resolve

import "github.com/skillpm/skillpm/pkg/source"

// The packs that are needed and not decided are in a heap. Those that are decided, or are no longer needed, stay in it
// until they come up.

// waiting is an item of the heap.
type waiting struct {
	id    source.ID
	class uint8 // what comes before the id
	pack  int32
}

// choose returns the open pack that comes first, -1 when there is none.
func (s *solver) choose() int32 {
	for len(s.heap) > 0 {
		p := s.heap[0].pack
		if s.isOpen(p) {
			return p
		}
		last := len(s.heap) - 1
		s.heap[0] = s.heap[last]
		s.heap = s.heap[:last]
		s.sink(0)
		s.packs[p].open = false
	}
	return -1
}

func (s *solver) isOpen(p int32) bool { return !s.packs[p].sum.not && s.packs[p].decided < 0 }

// reopen puts a pack into the heap, if it belongs there and is not.
func (s *solver) reopen(p int32) {
	if s.packs[p].open || !s.isOpen(p) {
		return
	}
	s.packs[p].open = true
	i := len(s.heap)
	s.heap = append(s.heap, s.waiting(p))
	for i > 0 {
		up := (i - 1) / 2
		if !s.heap[i].before(&s.heap[up]) {
			return
		}
		s.heap[i], s.heap[up] = s.heap[up], s.heap[i]
		i = up
	}
}

func (s *solver) sink(i int) {
	for {
		least := i
		for _, down := range [...]int{2*i + 1, 2*i + 2} {
			if down < len(s.heap) && s.heap[down].before(&s.heap[least]) {
				least = down
			}
		}
		if least == i {
			return
		}
		s.heap[i], s.heap[least] = s.heap[least], s.heap[i]
		i = least
	}
}

// waiting says which packs are decided first: those that the root requires, then those with a version in the lock, then
// by name.
func (s *solver) waiting(p int32) waiting {
	w := waiting{id: s.cat.packs[p].id, pack: p}
	if !s.packs[p].direct {
		w.class += 2
	}
	if !s.cat.packs[p].locked {
		w.class++
	}
	return w
}

func (w *waiting) before(o *waiting) bool {
	if w.class != o.class {
		return w.class < o.class
	}
	return compareIDs(w.id, o.id) < 0
}
