package bm25

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// The bounds of a query.
const (
	maxQuery       = 48     // words
	maxPrefixForms = 40     // words that begin as one of the query does
	maxScanned     = 20_000 // words that are looked at to find these
	maxTypoForms   = 12     // words that differ by a letter
)

// How much of a word's points remain when a document has it in another form, of 256.
const (
	exactWeight = 256
	joinedShare = 200 // several words as one
	prefixShare = 176 // a beginning that isn't a word itself
	longerShare = 72  // a beginning that is a word itself
	typoShare   = 128
)

// Query is a search query.
type Query struct {
	Text string
	Key  string // the document with this key comes first
	// Sentence is set for a text that was not written as keywords: words may be irrelevant, so that documents need not
	// have most of them, and short words that no document has are other words more often than mistakes.
	Sentence bool
	Ignore   func(word string) bool   // reports words that say nothing, besides common ones; nil for none
	Synonym  func(word string) string // returns another spelling of a word, "" for none; nil for none
}

// queryTerm is a word of a query and the forms in which it is searched for.
type queryTerm struct {
	word   string
	forms  []form
	rarity int
}

// form is a stem that is searched for.
type form struct {
	key   string
	part  int // of its points, of 256
	match Match
	text  string // what it stands for: several words of the query, or the correction of a typo
	all   bool   // it is the whole query
}

// Match describes how a word was found.
type Match string

// How words are found.
const (
	MatchExact  Match = "word"
	MatchPrefix Match = "beginning"
	MatchTypo   Match = "typo"
	MatchJoined Match = "joined"
)

// words returns the words of the query that say something, or all if none does. Words that were left out of a sentence
// leave an empty string, which keeps their neighbors apart.
func (q Query) words() (list []string) {
	var all []string
	words(q.Text, func(w string) bool {
		all = append(all, w)
		if isStopWord(w) || q.Ignore != nil && q.Ignore(w) {
			w = ""
		}
		if w != "" || q.Sentence {
			list = append(list, w)
		}
		return len(all) < maxQuery
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

// terms returns the words of a query and their forms.
func (l indexes) terms(q Query) (terms []queryTerm) {
	list := q.words()
	positions := map[string]int{} // by stem
	for _, w := range list {
		if _, ok := positions[stem(w)]; !ok && w != "" {
			positions[stem(w)] = len(terms)
			terms = append(terms, queryTerm{word: w})
		}
	}
	have := make([]int, len(terms)) // documents
	add := func(n int, f form) {
		if !slices.ContainsFunc(terms[n].forms, func(old form) bool { return old.key == f.key }) {
			terms[n].forms = append(terms[n].forms, f)
		}
	}
	for n, t := range terms {
		keys := []string{stem(t.word)}
		if q.Synonym != nil && q.Synonym(t.word) != "" {
			keys = append(keys, stem(q.Synonym(t.word)))
		}
		for _, key := range keys {
			if count, _ := l.count(key); count > 0 {
				add(n, form{key: key, part: exactWeight, match: MatchExact, all: len(terms) == 1})
				have[n] += count
			}
		}
	}
	join := func(parts []string) {
		if slices.Contains(parts, "") {
			return
		}
		f := form{
			key: stem(strings.Join(parts, "")), part: joinedShare, match: MatchJoined, text: strings.Join(parts, " "),
			all: len(parts) == len(list),
		}
		count, _ := l.count(f.key)
		for _, w := range parts {
			if n := positions[stem(w)]; count > 0 {
				add(n, f)
				have[n] = max(have[n], count)
			}
		}
	}
	for i := range list[:max(len(list)-1, 0)] {
		join(list[i : i+2])
	}
	if len(list) > 2 {
		join(list)
	}
	for n := range terms {
		last := n == len(terms)-1 && !q.Sentence && !strings.HasSuffix(q.Text, " ")
		if f, count := l.approximate(q, terms[n].word, len(terms), have[n] > 0, last); len(f) > 0 {
			for _, one := range f {
				add(n, one)
			}
			have[n] = max(have[n], count)
		}
		terms[n].rarity = rarity(have[n], l.docs())
	}
	return terms
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
