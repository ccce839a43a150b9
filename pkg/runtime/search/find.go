package search

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"
	"strings"
)

// Hit is a pack that was found.
type Hit struct {
	Doc
	Index  int      // which of the indexes has it
	Score  int      // the higher the better; it says nothing by itself
	Why    []Why    // the words of the query that it has, in their order
	Skills []string // its skills that have such words in name or description, those with the most first
}

// Answer is what was found.
type Answer struct {
	Hits    []Hit
	Total   int      // packs that were found, hits and others
	Missing []string // words of the query that nothing was found for
	Typos   []Fixed  // words of the query that were taken for others
}

// Fixed is a word that was taken for others because no pack has it.
type Fixed struct {
	Word string
	As   []string // the commonest first
}

// Find returns the best packs, at most n, for the words of a query.
func (x *Index) Find(query string, n int) (*Answer, error) { return Find([]*Index{x}, query, n) }

// Find is [Index.Find] over several indexes, as if they were one. A pack that several have is found several times.
func Find(indexes []*Index, query string, n int) (*Answer, error) {
	l := lexicon(indexes)
	wishes, err := l.wishes(query)
	if err != nil {
		return nil, err
	}
	a := &Answer{}
	for _, w := range wishes {
		switch {
		case len(w.forms) == 0:
			a.Missing = append(a.Missing, w.word)
		case w.forms[0].how == Typo:
			fixed := Fixed{Word: w.word}
			for _, f := range w.forms {
				fixed.As = append(fixed.As, f.text)
			}
			a.Typos = append(a.Typos, fixed)
		}
	}
	t := tally{query: query, wishes: wishes, best: make(ranking, 0, min(max(n, 0), maxDocs)+1), n: n}
	scores := make([][]score, len(indexes))
	for i, x := range indexes {
		if scores[i], err = t.score(x); err != nil {
			return nil, err
		}
	}
	for i := range indexes {
		a.Total += t.pick(i, scores[i])
	}
	slices.SortFunc(t.best, func(a, b ranked) int { return b.compare(a) })
	e := newExplainer(wishes)
	for _, r := range t.best {
		d, err := indexes[r.index].doc(r.doc)
		if err != nil {
			return nil, err
		}
		h := Hit{Doc: d, Index: r.index, Score: r.points}
		h.Why, h.Skills = e.explain(&d)
		a.Hits = append(a.Hits, h)
	}
	return a, nil
}

// score is what a pack has of a query.
type score struct {
	points uint32
	bits   uint16 // the words
	part   uint16 // of the wish at hand, so far
}

// The points of being just what was asked for: more than all words together can give.
const (
	isName = 1 << 27 // owner/name as it is written
	isWord = 1 << 14 // the name without its owner is what was asked for, and nothing else
)

// tally counts points.
type tally struct {
	query  string
	wishes []wish
	words  int // the most words of the query that a pack has
	best   ranking
	n      int
}

// score counts the points of an index's packs.
func (t *tally) score(x *Index) ([]score, error) {
	scores := make([]score, x.Len())
	for _, w := range t.wishes {
		for _, f := range w.forms {
			e, _, err := x.lookup(f.key)
			if err != nil {
				return nil, err
			}
			worth, bits, several := w.worth(f), w.bits, len(w.forms) > 1
			err = x.places(e, func(doc int, mark byte) {
				s, value := &scores[doc], worth[mark]
				if s.bits |= bits; !several {
					s.points += uint32(value)
				} else if value > s.part { // of several forms the one that counts most
					s.points, s.part = s.points+uint32(value-s.part), value
				}
			})
			if err != nil {
				return nil, err
			}
		}
		if len(w.forms) > 1 {
			for i := range scores {
				scores[i].part = 0
			}
		}
	}
	if name := strings.ToLower(strings.TrimSpace(t.query)); strings.Count(name, "/") == 1 && len(name) <= maxShort {
		doc, err := x.named(name)
		if err != nil {
			return nil, err
		}
		if doc >= 0 {
			scores[doc].points += isName
			for _, w := range t.wishes {
				scores[doc].bits |= w.bits
			}
		}
	}
	for _, s := range scores {
		t.words = max(t.words, bits.OnesCount16(s.bits))
	}
	return scores, nil
}

// worth returns, for each mark of a form, what it counts for.
func (w *wish) worth(f form) (points [256]uint16) {
	for mark := range points {
		value := mark &^ exact * f.part * w.value >> 14
		if mark&exact != 0 && w.whole && f.part >= joined {
			value += isWord
		}
		points[mark] = uint16(min(value, 1<<16-1))
	}
	return points
}

// ranked is a pack with its points.
type ranked struct {
	index, doc, points int
}

// compare returns which of two is better. Packs of one index are in the order of their names.
func (r ranked) compare(o ranked) int {
	return cmp.Or(cmp.Compare(r.points, o.points), cmp.Compare(o.index, r.index), cmp.Compare(o.doc, r.doc))
}

// ranking is a heap whose top is the worst.
type ranking []ranked

func (h ranking) Len() int           { return len(h) }
func (h ranking) Less(i, j int) bool { return h[i].compare(h[j]) < 0 }
func (h ranking) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ranking) Push(x any)        { *h = append(*h, x.(ranked)) }
func (h *ranking) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// pick keeps the best packs of an index and returns how many there are to choose from: those with at least half as many
// words of the query as the pack that has the most.
func (t *tally) pick(index int, scores []score) (total int) {
	for doc, s := range scores {
		has := bits.OnesCount16(s.bits)
		if has == 0 || 2*has < t.words {
			continue
		}
		total++
		r := ranked{index, doc, int(s.points) * has / t.words}
		if len(t.best) == t.n && (t.n == 0 || r.compare(t.best[0]) < 0) {
			continue
		}
		if heap.Push(&t.best, r); len(t.best) > t.n {
			heap.Pop(&t.best)
		}
	}
	return total
}
