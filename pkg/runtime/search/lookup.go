package search

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
)

// entry is a word of an index.
type entry struct {
	key       string
	count     int
	doc       int  // the only pack, where count is 1
	mark      byte // of it
	off, size int  // the piece that says which, where there are more
}

// cachedRun is a piece of words as it was read.
type cachedRun struct {
	block   int
	entries []entry
}

// entries returns the words of a piece.
func (x *Index) entries(number int) ([]entry, error) {
	if x.cached.entries != nil && x.cached.block == number {
		return x.cached.entries, nil
	}
	at := x.blocks[number]
	b, err := x.piece(at.start+at.places, at.pieceLen)
	if err != nil {
		return nil, err
	}
	r := reader{data: b}
	list := make([]entry, 0, wordsPerPiece)
	off, last := at.start, ""
	for len(r.data) > 0 {
		shared := r.number()
		rest := r.string()
		if shared > len(last) || len(rest) > maxWord {
			return nil, damaged("a word")
		}
		e := entry{key: last[:shared] + rest, count: r.number()}
		switch e.count {
		case 0:
		case 1:
			e.doc, e.mark = r.number(), r.byte()
		default:
			e.off, e.size = off, r.number()
			off += e.size + sumSize
		}
		if r.bad || e.count > x.footer.docs {
			return nil, damaged("a word")
		}
		last = e.key
		list = append(list, e)
	}
	x.cached = cachedRun{number, list}
	return list, nil
}

// block returns the piece in which a word is, if it is there; -1 if it comes before all.
func (x *Index) blockOf(word string) int {
	return sort.Search(len(x.blocks), func(i int) bool { return x.blocks[i].first > word }) - 1
}

// lookup returns a word; its count is 0 where no pack has it, and known tells whether somebody writes something so.
func (x *Index) lookup(word string) (e entry, known bool, err error) {
	number := x.blockOf(word)
	if number < 0 {
		return entry{}, false, nil
	}
	list, err := x.entries(number)
	if err != nil {
		return entry{}, false, err
	}
	i, ok := slices.BinarySearchFunc(list, word, func(e entry, w string) int { return strings.Compare(e.key, w) })
	if !ok {
		return entry{}, false, nil
	}
	return list[i], true, nil
}

// from calls found with the words from one on, in order, until it returns false.
func (x *Index) from(word string, found func(entry) bool) error {
	for number := max(x.blockOf(word), 0); number < len(x.blocks); number++ {
		list, err := x.entries(number)
		if err != nil {
			return err
		}
		for _, e := range list {
			if e.key >= word && !found(e) {
				return nil
			}
		}
	}
	return nil
}

// places calls found with each pack that has a word, and its mark.
func (x *Index) places(e entry, found func(doc int, mark byte)) error {
	switch {
	case e.count == 0:
		return nil
	case e.count == 1 && e.doc < x.footer.docs:
		found(e.doc, e.mark)
		return nil
	case e.count == 1:
		return damaged("a word of a pack that is not there")
	}
	b, err := x.piece(e.off, e.size)
	if err != nil {
		return err
	}
	doc := 0
	for i := 0; len(b) > 0; i++ {
		step, size := binary.Uvarint(b)
		if size <= 0 || len(b) < size+1 || step >= uint64(x.footer.docs) || i > 0 && step == 0 {
			return damaged("the packs of a word")
		}
		if doc += int(step); doc >= x.footer.docs {
			return damaged("a word of a pack that is not there")
		}
		found(doc, b[size])
		b = b[size+1:]
	}
	return nil
}
