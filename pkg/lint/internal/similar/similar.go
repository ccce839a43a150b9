// Package similar finds texts and names that are nearly the same: descriptions of skills that a model cannot tell
// apart, and names that people mix up.
//
// Two texts are as similar as the pairs of neighbouring words that both have are many among all that either has (the
// Jaccard index). Case, punctuation and white space do not count; a text of one word has that word for a pair. The
// letters of Chinese and Japanese are words of their own.
//
// Candidates are found by the rarest pairs of words of each text: two texts that are similar enough must share
// one of those, so that few texts are compared. The package works on what it is given, has no clock and no chance in
// it, and gives the same result for the same input.
package similar

import (
	"math"
	"slices"
)

// Threshold is the similarity from which descriptions are worth a word. In a description of 40 words, two words changed
// here and there leave 0.8, and so does a sentence of nine words at its end. One word changed in eight leaves less: in
// short texts differ in one word.
const Threshold = 0.8

// A text is compared with no more than tries others, and after enough matches no better one is looked for: thousands of
// texts that are alike do not take the square of their number.
const (
	enough = 32
	tries  = 4096
)

// Match is a text that is nearly the same as an earlier one.
type Match struct {
	Text, Of int // positions; Of is the smaller
	Score    float64
}

// Matches returns, for each text that has one, an earlier text whose similarity is at least threshold, which is more
// than 0 and at most 1: the most similar one, the first of equals. Where there are 32 such, or where thousands share a
// text's rarest words, it is the best of those that were found first. Texts that are byte for byte the same as an
// earlier one, and those without a word, have no match and are none. The matches are in the order of the texts.
func Matches(texts []string, threshold float64) []Match {
	if !(threshold > 0 && threshold <= 1) {
		return nil
	}
	j := newJoin(texts, threshold)
	var list []Match
	for i := range texts {
		if m, ok := j.match(i); ok {
			list = append(list, m)
		}
		j.index(i)
	}
	return list
}

// join finds similar sets. A set has the ranks of its shingles, rarest first; those that no other set has are left out
// and only counted, as they can be in no intersection.
type join struct {
	threshold float64
	sets      []set
	starts    []uint32  // by rank, where its postings start
	ends      []uint32  // by rank, where they end so far
	postings  []posting // the earlier sets that have a rank among their rarest
	seen      []int     // by set, the last one that was compared with it, counted from 1
}

type set struct {
	ranks []uint32
	size  int // with those that are left out
}

// posting is the position of a shingle among the ranks of a set.
type posting struct {
	set, at uint32
}

func newJoin(texts []string, threshold float64) *join {
	sets, ranks := rank(shingle(texts))
	j := &join{threshold: threshold, sets: sets, starts: make([]uint32, ranks+1), seen: make([]int, len(texts))}
	for i := range sets {
		for _, r := range j.rarest(i) {
			j.starts[r+1]++
		}
	}
	for r := range ranks {
		j.starts[r+1] += j.starts[r]
	}
	j.ends = slices.Clone(j.starts)
	j.postings = make([]posting, j.starts[ranks])
	return j
}

// least returns how many of n shingles another set must have at least. It is never too large, whatever is lost in
// multiplying; what is similar is decided by the score.
func (j *join) least(n int) int {
	return max(1, int(math.Ceil(j.threshold*float64(n)-1e-6)))
}

// rarest returns the ranks of which every similar set has one.
func (j *join) rarest(i int) []uint32 {
	s := j.sets[i]
	n := s.size - j.least(s.size) + 1 - (s.size - len(s.ranks))
	return s.ranks[:max(0, min(n, len(s.ranks)))]
}

// index makes a set known to those that follow.
func (j *join) index(i int) {
	for at, r := range j.rarest(i) {
		j.postings[j.ends[r]] = posting{uint32(i), uint32(at)}
		j.ends[r]++
	}
}

// match returns the best match of a set among those that are indexed.
func (j *join) match(i int) (best Match, ok bool) {
	x, found, tried := j.sets[i], 0, 0
	for at, r := range j.rarest(i) {
		for _, p := range j.postings[j.starts[r]:j.ends[r]] {
			if j.seen[p.set] == i+1 {
				continue
			}
			j.seen[p.set] = i + 1
			y := j.sets[p.set]
			// What both have before this place was not found, so it is not there.
			both, need := 0, j.need(x.size+y.size)
			if need <= min(len(x.ranks)-at, len(y.ranks)-int(p.at)) {
				if tried++; tried > tries {
					return best, ok
				}
				both = intersection(x.ranks[at:], y.ranks[p.at:], need)
			}
			m := Match{Text: i, Of: int(p.set), Score: float64(both) / float64(x.size+y.size-both)}
			if m.Score < j.threshold {
				continue
			}
			if !ok || m.Score > best.Score || m.Score == best.Score && m.Of < best.Of {
				best, ok = m, true
			}
			if found++; found == enough {
				return best, ok
			}
		}
	}
	return best, ok
}

// need returns how many shingles two sets must share that have n together, each counted with both. Like least, it is
// never too large.
func (j *join) need(n int) int {
	return int(math.Ceil(j.threshold/(1+j.threshold)*float64(n) - 1e-6))
}

// intersection counts what two sorted lists both have. It gives up when that is less than need.
func intersection(x, y []uint32, need int) int {
	n, a, b := 0, 0, 0
	for a < len(x) && b < len(y) {
		if x[a] == y[b] {
			n, a, b = n+1, a+1, b+1
			continue
		}
		if x[a] < y[b] {
			a++
		} else {
			b++
		}
		if n+min(len(x)-a, len(y)-b) < need {
			break
		}
	}
	return n
}

// rank numbers the shingles of sets by how many sets have them, and returns the number of those that more than one has.
func rank(shingles [][]uint32, kinds int) ([]set, uint32) {
	counts := make([]uint32, kinds)
	most := uint32(0)
	for _, list := range shingles {
		for _, id := range list {
			counts[id]++
			most = max(most, counts[id])
		}
	}
	starts := make([]uint32, most+2) // by count, the next rank
	for _, n := range counts {
		if n > 1 {
			starts[n+1]++
		}
	}
	for n := range most + 1 {
		starts[n+1] += starts[n]
	}
	ranks := make([]uint32, kinds)
	for id, n := range counts {
		if n > 1 {
			ranks[id] = starts[n]
			starts[n]++
		}
	}
	sets := make([]set, len(shingles))
	for i, list := range shingles {
		s := set{ranks: list[:0], size: len(list)}
		for _, id := range list {
			if counts[id] > 1 {
				s.ranks = append(s.ranks, ranks[id])
			}
		}
		slices.Sort(s.ranks)
		sets[i] = s
	}
	return sets, starts[most+1]
}
