package bm25

import (
	"cmp"
	"container/heap"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Hit is a document that was found.
type Hit struct {
	Index  int // which of the indexes has it
	Number int // of the document
	Points int // the more the better
	// Share is the part of the query's information that the document has, from 0 to 1. It does not depend on which
	// other documents match.
	Share float64
}

// Answer is the result of a search.
type Answer struct {
	Hits    []Hit
	Total   int          // documents that were found, hits and others
	Missing []string     // words of the query that nothing was found for
	Typos   []Correction // words of the query that were taken for others
	Dropped []string     // words of a long text that are not searched for

	query   Query
	indexes indexes
	terms   []queryTerm
}

// Correction is a word that no document has, and the words that were searched for instead, the most common first.
type Correction struct {
	Word         string
	Replacements []string
}

// Find returns the best documents, at most n, of several indexes as if they were one.
func Find(list []*Index, q Query, n int) (*Answer, error) {
	a := &Answer{query: q, indexes: list}
	a.terms, a.Dropped = a.indexes.terms(q)
	full, count := 0, 0
	for _, t := range a.terms {
		switch {
		case t.from != "":
			continue
		case len(t.forms) == 0:
			a.Missing = append(a.Missing, t.word)
		case t.forms[0].match == MatchTypo:
			c := Correction{Word: t.word}
			for _, f := range t.forms {
				c.Replacements = append(c.Replacements, f.text)
			}
			a.Typos = append(a.Typos, c)
		}
		full, count = full+q.value(t), count+1
	}
	if q.Sentence {
		full = expected(full, count)
	}
	r := ranking{n: n, all: n >= a.indexes.docs()}
	scores := make([][]score, len(list))
	most := 0 // terms that a document has
	for i, x := range list {
		var err error
		if scores[i], err = x.score(q, a.terms); err != nil {
			return nil, err
		}
		for _, s := range scores[i] {
			most = max(most, bits.OnesCount64(s.terms))
		}
	}
	for i := range list {
		for number, s := range scores[i] {
			has := bits.OnesCount64(s.terms)
			h := Hit{Index: i, Number: number, Points: int(s.points)}
			if has == 0 || !q.Sentence && 2*has < most {
				continue
			}
			if !q.Sentence {
				h.Points = h.Points * has / most
			} else if has == 1 && count > 2 {
				h.Points = h.Points * loneShare / exactWeight
			}
			h.Share = min(1, float64(h.Points)/float64(max(full*maxImpact*exactWeight>>14, 1)))
			a.Total++
			r.add(h)
		}
	}
	a.Hits = r.hits
	slices.SortFunc(a.Hits, func(a, b Hit) int { return b.compare(a) })
	return a, nil
}

// loneShare is what remains of the points of a document that has only one of many words of a sentence, of 256: one word
// often has another meaning.
const loneShare = 205

// expected returns the part of the value of a query's terms that a document is expected to have: all of it for a
// sentence, and less the longer a text is.
func expected(full, terms int) int {
	const sentence = 8 // terms
	if terms <= sentence {
		return full
	}
	return int(float64(full) * math.Sqrt(sentence/float64(terms)))
}

// value returns the weight of a term. In a sentence, a word that no document has counts less, since it is probably not
// the subject, and so does a number.
func (q Query) value(t queryTerm) int {
	v := t.rarity * t.frequency / exactWeight
	if q.Sentence && len(t.forms) == 0 {
		v = v * 3 / 5
	}
	if q.Sentence && strings.Trim(t.word, "0123456789") == "" {
		v = v * 3 / 10
	}
	return v
}

// formValue returns the weight of a form of a term.
func (q Query) formValue(t queryTerm, f form) int {
	if f.rarity > 0 && f.rarity < t.rarity {
		t.rarity = f.rarity
	}
	return q.value(t)
}

// score is how a document matches a query.
type score struct {
	terms  uint64 // a bit for each
	points uint32
	best   uint16 // points of the current term
}

// The points for an exact match of the key or the title: more than all words together can give.
const (
	keyPoints   = 1 << 27
	titlePoints = 1 << 14
)

// score counts the points of the documents.
func (x *Index) score(q Query, terms []queryTerm) ([]score, error) {
	scores := make([]score, x.Len())
	for i, t := range terms {
		for _, f := range t.forms {
			word, ok := x.lookup(f.key)
			if !ok {
				continue
			}
			points := f.points(q.formValue(t, f))
			err := x.postings(word, func(doc int, impact byte) {
				s := &scores[doc]
				s.terms |= 1 << i
				switch p := points[impact]; {
				case len(t.forms) == 1:
					s.points += uint32(p)
				case p > s.best: // of several forms the one that counts most
					s.points, s.best = s.points+uint32(p-s.best), p
				}
			})
			if err != nil {
				return nil, err
			}
		}
		if len(t.forms) > 1 {
			for doc := range scores {
				scores[doc].best = 0
			}
		}
	}
	if q.Key != "" {
		doc, err := x.Find(q.Key)
		if err != nil {
			return nil, err
		}
		if doc >= 0 {
			scores[doc].points += keyPoints
			scores[doc].terms |= 1<<len(terms) - 1
		}
	}
	return scores, nil
}

// points returns what a form of a word counts for, by the impact.
func (f form) points(value int) (points [256]uint16) {
	for impact := range points {
		p := impact &^ exact * f.part * value >> 14
		if impact&exact != 0 && f.all && f.part >= joinedShare {
			p += titlePoints
		}
		points[impact] = uint16(min(p, 1<<16-1))
	}
	return points
}

// compare returns which of two hits is better. Equal ones keep the order of the indexes and documents.
func (h Hit) compare(o Hit) int {
	return cmp.Or(cmp.Compare(h.Points, o.Points), cmp.Compare(o.Index, h.Index), cmp.Compare(o.Number, h.Number))
}

// ranking keeps the best n hits: a heap whose top is the worst.
type ranking struct {
	hits []Hit
	n    int
	all  bool // there can't be more than n
}

func (r *ranking) Len() int           { return len(r.hits) }
func (r *ranking) Less(i, j int) bool { return r.hits[i].compare(r.hits[j]) < 0 }
func (r *ranking) Swap(i, j int)      { r.hits[i], r.hits[j] = r.hits[j], r.hits[i] }
func (r *ranking) Push(x any)         { r.hits = append(r.hits, x.(Hit)) }
func (r *ranking) Pop() any {
	last := r.hits[len(r.hits)-1]
	r.hits = r.hits[:len(r.hits)-1]
	return last
}

func (r *ranking) add(h Hit) {
	if r.all {
		r.hits = append(r.hits, h)
		return
	}
	if len(r.hits) == r.n && (r.n == 0 || h.compare(r.hits[0]) < 0) {
		return
	}
	if heap.Push(r, h); len(r.hits) > r.n {
		heap.Pop(r)
	}
}
