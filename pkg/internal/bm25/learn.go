package bm25

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// The bounds of what is learned from documents.
const (
	shortestLearned = 2 // letters of an abbreviation
	longestLearned  = 6
	leastDocuments  = 2 // that introduce an abbreviation with the same words: one document alone can't add a meaning
	maxLearned      = 4096
	maxPairs        = 64 << 10 // abbreviations and words that are counted
)

// learner collects the abbreviations that texts introduce in parentheses: "architecture decision record (ADR)".
type learner struct {
	found map[[2]string]int // documents by abbreviation and words
	last  map[[2]string]int // last document
}

// read collects the abbreviations of a document's text.
func (l *learner) read(document int, text string) {
	const spaces = 2 // around an abbreviation
	for {
		before, rest, ok := strings.Cut(text, "(")
		if !ok {
			return
		}
		inside, _, ok := strings.Cut(rest[:min(len(rest), longestLearned+spaces+1)], ")")
		if short := strings.TrimSpace(inside); ok && isAbbreviation(short) {
			if long := meaning(strings.ToLower(short), before); long != "" {
				l.add(document, [2]string{strings.ToLower(short), long})
			}
		}
		text = rest
	}
}

func (l *learner) add(document int, pair [2]string) {
	last, ok := l.last[pair]
	if ok && last == document || !ok && len(l.found) >= maxPairs {
		return
	}
	if l.found == nil {
		l.found, l.last = map[[2]string]int{}, map[[2]string]int{}
	}
	l.found[pair]++
	l.last[pair] = document
}

// isAbbreviation reports whether a text is a word with at least two capital letters.
func isAbbreviation(s string) bool {
	if len(s) < shortestLearned || len(s) > longestLearned {
		return false
	}
	capitals := 0
	for _, c := range []byte(s) {
		switch {
		case c >= 'A' && c <= 'Z':
			capitals++
		case c < 'a' || c > 'z':
			return false
		}
	}
	return capitals >= 2
}

// meaning returns the words at the end of a text whose initials are those of an abbreviation, as many as it has
// letters; "" if they are others.
func meaning(short, before string) string {
	const most = 200 // bytes
	var list []string
	if len(before) > most {
		before = before[len(before)-most:]
	}
	words(before, func(w string) bool { list = append(list, w); return true })
	if len(list) < len(short) {
		return ""
	}
	list = list[len(list)-len(short):]
	for i, w := range list {
		if w[0] != short[i] {
			return ""
		}
	}
	return strings.Join(list, " ")
}

// table returns what was learned: for each abbreviation its commonest words.
func (l *learner) table() (t []abbreviation) {
	pairs := slices.SortedFunc(maps.Keys(l.found), func(a, b [2]string) int {
		return cmp.Or(strings.Compare(a[0], b[0]), cmp.Compare(l.found[b], l.found[a]), strings.Compare(a[1], b[1]))
	})
	for _, p := range pairs {
		if l.found[p] >= leastDocuments && (len(t) == 0 || t[len(t)-1].short != p[0]) && len(t) < maxLearned {
			t = append(t, abbreviation{short: p[0], long: p[1]})
		}
	}
	return t
}

// abbreviation has the words that an abbreviation stands for.
type abbreviation struct{ short, long string }

func appendTable(b []byte, t []abbreviation) []byte {
	b = binary.AppendUvarint(b, uint64(len(t)))
	for _, a := range t {
		for _, s := range []string{a.short, a.long} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	return b
}

func cutTable(b []byte) (t []abbreviation, rest []byte, ok bool) {
	n, b, ok := cutUvarint(b, maxLearned)
	if !ok {
		return nil, nil, false
	}
	for range n {
		var texts [2]string
		for i := range texts {
			size, rest, ok := cutUvarint(b, len(b))
			if !ok || size > len(rest) {
				return nil, nil, false
			}
			texts[i], b = string(rest[:size]), rest[size:]
		}
		t = append(t, abbreviation{texts[0], texts[1]})
	}
	return t, b, true
}

// learnedTerms adds terms for the words of the query's abbreviations, and for the abbreviations of its words. They add
// points, but a document is not expected to have them.
func (r *reading) learnedTerms() {
	list := slices.DeleteFunc(slices.Clone(r.words), func(w string) bool { return w == "" })
	text := " " + strings.Join(list, " ") + " "
	known := map[string]bool{}
	for _, t := range r.terms {
		known[stem(t.word)] = true
	}
	for _, x := range r.indexes {
		for _, a := range x.learned {
			long := strings.Fields(a.long)
			switch {
			case strings.Contains(text, " "+a.short+" "):
				for _, w := range long {
					r.learnedTerm(w, a.short, learnedShare/len(long), known)
				}
			case strings.Contains(text, " "+a.long+" "):
				r.learnedTerm(a.short, a.long, learnedShare, known)
			}
		}
	}
}

func (r *reading) learnedTerm(word, from string, share int, known map[string]bool) {
	key := stem(word)
	count, _ := r.count(key)
	if known[key] || count == 0 || isStopWord(word) || len(r.terms) >= maxTerms {
		return
	}
	known[key] = true
	r.terms = append(r.terms, queryTerm{
		word: word, from: from, rarity: rarity(count, r.docs()), frequency: share,
		forms: []form{{key: key, part: exactWeight, match: MatchLearned, text: from}},
	})
}
