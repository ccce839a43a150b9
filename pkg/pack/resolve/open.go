package resolve

// The packs that are needed and not decided are in a heap. Those that are decided, or are no longer needed, stay in it
// until they come up.

// choose returns the open pack that comes first, -1 when there is none.
func (s *solver) choose() int32 {
	for len(s.heap) > 0 {
		p := s.heap[0]
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
	s.heap = append(s.heap, p)
	for i > 0 {
		up := (i - 1) / 2
		if !s.before(s.heap[i], s.heap[up]) {
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
			if down < len(s.heap) && s.before(s.heap[down], s.heap[least]) {
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

// before says which pack is decided first: one that the root requires, then one with a version in the lock, then one
// that was met first. The requirements of the root and of every version are met in order of ids.
func (s *solver) before(a, b int32) bool {
	if ca, cb := s.packs[a].class, s.packs[b].class; ca != cb {
		return ca < cb
	}
	return a < b
}
