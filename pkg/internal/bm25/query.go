package bm25

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// The bounds of a query.
const (
	maxQuery       = 48       // words of keywords
	maxSentence    = 4096     // words of a sentence
	maxText        = 64 << 10 // bytes of a query
	maxTerms       = 64       // different words that are searched for
	maxApproximate = 24       // different words of a query whose words may be beginnings or have typos
	maxPrefixForms = 40       // words that begin as one of the query does
	maxScanned     = 20_000   // words that are looked at to find these
	maxTypoForms   = 12       // words that differ by a letter
)

// How much of a word's points remain when a document has it in another form, of 256.
const (
	exactWeight  = 256
	joinedShare  = 200 // several words as one
	synonymShare = 192
	prefixShare  = 176 // a beginning that isn't a word itself
	longerShare  = 72  // a beginning that is a word itself
	typoShare    = 128
	learnedShare = 128 // the words of an abbreviation together
)

// Query is a search query.
type Query struct {
	Text string
	Key  string // the document with this key comes first
	// Sentence is set for a text that was not written as keywords: words may be irrelevant, so that documents need not
	// have most of them, and short words that no document has are other words more often than mistakes. A long text is
	// reduced to the words that distinguish documents best; words that it repeats count more.
	Sentence bool
}

// queryTerm is a word of a query and the forms in which it is searched for.
type queryTerm struct {
	word      string
	forms     []form
	rarity    int
	frequency int    // what its number of occurrences counts, of 256
	from      string // the words of the query that mean it, "" if it is one
}

// form is a stem that is searched for.
type form struct {
	key    string
	part   int // of its points, of 256
	match  Match
	text   string // what it stands for: several words of the query, or the correction of a typo
	all    bool   // it is the whole query
	rarity int    // its own if it is a synonym, 0 for that of the word
}

// Match describes how a word was found.
type Match string

// How words are found.
const (
	MatchExact   Match = "word"
	MatchPrefix  Match = "beginning"
	MatchTypo    Match = "typo"
	MatchJoined  Match = "joined"
	MatchSynonym Match = "synonym"
	MatchLearned Match = "abbreviation"
)

// words returns the words of the query that say something, or all if none does. Words that were left out of a sentence
// leave an empty string, which keeps their neighbors apart.
func (q Query) words() (list []string) {
	limit := maxQuery
	if q.Sentence {
		limit = maxSentence
	}
	var all []string
	words(textx.Prefix(q.Text, maxText), func(w string) bool {
		all = append(all, w)
		if isStopWord(w) || isRequestWord(w) {
			w = ""
		}
		if w != "" || q.Sentence {
			list = append(list, w)
		}
		return len(all) < limit
	})
	if strings.Join(list, "") == "" {
		return all
	}
	return list
}

// indexes are several indexes that are searched as one.
type indexes []*Index

func (l indexes) docs() (n int) {
	for _, x := range l {
		n += x.Len()
	}
	return n
}

// count returns how many documents have a word, and whether any index knows it.
func (l indexes) count(word string) (n int, exists bool) {
	for _, x := range l {
		if i, ok := x.lookup(word); ok {
			n, exists = n+x.count(i), true
		}
	}
	return n, exists
}

// reading is a query while its terms are found.
type reading struct {
	indexes
	query     Query
	words     []string // of the query, "" for those left out
	terms     []queryTerm
	positions map[string]int // of the terms, by stem
	synonyms  map[string][]string
	have      []int // documents of each term
}

// terms returns the words of a query and their forms, and the words that are not searched for because there are better
// ones.
func (l indexes) terms(q Query) (terms []queryTerm, dropped []string) {
	r := &reading{indexes: l, query: q, words: q.words(), positions: map[string]int{}, synonyms: Synonyms()}
	repeats := map[string]int{}
	for _, w := range r.words {
		key := stem(w)
		if repeats[key]++; w != "" && repeats[key] == 1 {
			r.positions[key] = len(r.terms)
			r.terms = append(r.terms, queryTerm{word: w})
		}
	}
	r.have = make([]int, len(r.terms))
	for n := range r.terms {
		r.exactForms(n)
		r.terms[n].frequency = exactWeight
		if q.Sentence {
			r.terms[n].frequency = frequency(repeats[stem(r.terms[n].word)])
		}
	}
	r.joinedForms()
	approximate := len(r.terms) <= maxApproximate || !q.Sentence
	for n := range r.terms {
		if approximate {
			r.approximateForms(n)
		}
		r.terms[n].rarity = rarity(r.have[n], l.docs())
	}
	dropped = r.reduce()
	if q.Sentence {
		r.learnedTerms()
	}
	return r.terms, dropped
}

// frequency returns what a word counts that a text has so many times, of 256: at most two and a half times as much.
func frequency(times int) int { return exactWeight * 5 * times / (2*times + 3) }

func (r *reading) add(n int, f form) {
	if !slices.ContainsFunc(r.terms[n].forms, func(old form) bool { return old.key == f.key }) {
		r.terms[n].forms = append(r.terms[n].forms, f)
	}
}

// exactForms adds the stem of a term and of its synonyms. A synonym counts what it is worth itself, but not more than
// the word, so that a common synonym of a rare word does not stand out.
func (r *reading) exactForms(n int) {
	t := r.terms[n]
	key := stem(t.word)
	if r.have[n], _ = r.count(key); r.have[n] > 0 {
		r.add(n, form{key: key, part: exactWeight, match: MatchExact, all: len(r.terms) == 1})
	}
	own, least := r.have[n], 0
	for _, s := range r.synonyms[key] {
		key := stem(s)
		count, _ := r.count(key)
		if count == 0 {
			continue
		}
		r.add(n, form{
			key: key, part: synonymShare, match: MatchSynonym, text: s, rarity: rarity(max(count, own), r.docs()),
		})
		if least == 0 || count < least {
			least = count
		}
	}
	if own == 0 {
		r.have[n] = least
	}
}

// joinedForms adds the concatenations of neighbors, and of the whole query.
func (r *reading) joinedForms() {
	join := func(parts []string) {
		if slices.Contains(parts, "") {
			return
		}
		f := form{
			key: stem(strings.Join(parts, "")), part: joinedShare, match: MatchJoined, text: strings.Join(parts, " "),
			all: len(parts) == len(r.words),
		}
		count, _ := r.count(f.key)
		for _, w := range parts {
			if n := r.positions[stem(w)]; count > 0 {
				r.add(n, f)
				r.have[n] = max(r.have[n], count)
			}
		}
	}
	for i := range r.words[:max(len(r.words)-1, 0)] {
		join(r.words[i : i+2])
	}
	if n := len(r.words); n > 2 && n <= maxQuery {
		join(r.words)
	}
}

// approximateForms adds the forms of a term that it is a prefix or a typo of.
func (r *reading) approximateForms(n int) {
	q := r.query
	last := n == len(r.terms)-1 && !q.Sentence && !strings.HasSuffix(q.Text, " ")
	if f, count := r.approximate(q, r.terms[n].word, len(r.terms), r.have[n] > 0, last); len(f) > 0 {
		for _, one := range f {
			r.add(n, one)
		}
		r.have[n] = max(r.have[n], count)
	}
}

// reduce keeps the terms that are worth most, in their order. Those that no document has go first.
func (r *reading) reduce() (dropped []string) {
	if len(r.terms) <= maxTerms {
		return nil
	}
	order := make([]int, len(r.terms))
	worth := make([]int, len(r.terms))
	for n, t := range r.terms {
		if order[n] = n; len(t.forms) > 0 {
			worth[n] = r.query.value(t)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	kept := order[:maxTerms]
	slices.Sort(kept)
	var terms []queryTerm
	for n, t := range r.terms {
		if _, ok := slices.BinarySearch(kept, n); ok {
			terms = append(terms, t)
		} else {
			dropped = append(dropped, t.word)
		}
	}
	r.terms = terms
	return dropped
}

// approximate returns the forms of a word that it is a prefix of, or a typo of, and how many documents have the most
// common of them. The last keyword may be a prefix even if it is a word.
func (l indexes) approximate(q Query, word string, terms int, exists, last bool) ([]form, int) {
	shortest := 2
	if q.Sentence {
		shortest = 4
	}
	if len(word) >= shortest && (last || !exists) {
		forms, count := l.prefixForms(word, exists)
		if exists {
			return forms, 0
		} else if len(forms) > 0 {
			return forms, count
		}
	}
	if exists {
		return nil, 0
	}
	return l.typos(word, func(candidate string) bool { return !q.Sentence || plausible(word, candidate, terms) })
}

// prefixForms returns the stems of the words that begin with a word, the most common of them.
func (l indexes) prefixForms(word string, exists bool) ([]form, int) {
	counts := map[string]int{}
	for _, x := range l {
		start := x.startOf(word)
		for i := start; i < min(x.words(), start+maxScanned); i++ {
			key := string(x.word(i))
			if !strings.HasPrefix(key, word) {
				break
			}
			if x.count(i) == 0 {
				key = stem(key) // may not begin with the word: deploy for deploym
			}
			counts[key], _ = l.count(key)
		}
	}
	part := prefixShare
	if exists {
		part = longerShare
		delete(counts, stem(word))
	}
	return mostCommon(counts, maxPrefixForms, form{part: part, match: MatchPrefix})
}

// mostCommon returns forms for the stems that most documents have, made from one, and how many have the most common.
func mostCommon(counts map[string]int, limit int, f form) (forms []form, most int) {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	for _, key := range keys[:min(limit, len(keys))] {
		if counts[key] == 0 {
			break
		}
		f.key = key
		forms = append(forms, f)
		most = max(most, counts[key])
	}
	return forms, most
}
