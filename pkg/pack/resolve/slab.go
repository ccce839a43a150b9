package resolve

import "slices"

// slab hands out the parts of larger pieces of memory: what is made by the ten thousand is made with a few allocations.
// Nothing of it is given back before all is.
type slab[T any] struct {
	free []T
	size int // of the last piece
}

// The numbers of items of the first piece and of the largest ones.
const (
	firstPiece = 16
	lastPiece  = 1024
)

// next returns a new item.
func (s *slab[T]) next() *T { return &s.take(1)[0] }

// take returns n new items.
func (s *slab[T]) take(n int) []T {
	if n > len(s.free) {
		s.size = min(max(2*s.size, firstPiece), lastPiece)
		s.free = make([]T, max(n, s.size))
	}
	items := s.free[:n:n]
	s.free = s.free[n:]
	return items
}

// add appends to a list that most often stays short.
func (s *slab[T]) add(list []T, item T) []T {
	if list == nil {
		list = s.take(4)[:0]
	}
	return append(list, item)
}

// pages is a list that grows without being copied.
type pages[T any] struct {
	pages [][]T
	n     int
}

const (
	pageBits = 8
	pageSize = 1 << pageBits
)

func (l *pages[T]) at(i int32) *T { return &l.pages[i>>pageBits][i%pageSize] }

func (l *pages[T]) add(item T) {
	if l.n == len(l.pages)*pageSize {
		l.pages = append(l.pages, make([]T, pageSize))
	}
	*l.at(int32(l.n)) = item
	l.n++
}

// roomy returns the list with room for one item more. A list that is full gets twice the room, so that a long one is
// copied a few times only.
func roomy[T any](list []T) []T {
	if len(list) == cap(list) {
		list = slices.Grow(list, max(len(list), firstPiece))
	}
	return list
}
