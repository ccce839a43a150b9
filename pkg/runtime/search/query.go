package search

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// The bounds of a query.
const (
	maxQuery   = 16 // words
	maxBegun   = 40 // words that begin as one of the query does
	scanBegun  = 20_000
	maxMistake = 12 // words that differ by a letter
)

// How much of what a word counts for is left where the query has it in another form, of 256.
const (
	asWritten = 256
	begun     = 176 // a beginning, where nothing is written so
	longer    = 72  // a beginning, where it is a word already
	mistaken  = 128
	joined    = 200 // two words as one
)

// wish is a word of a query, or several joined, and the words that it is looked for as.
type wish struct {
	word  string
	bits  uint16 // the words of the query that it stands for
	whole bool   // it stands for all of them
	forms []form
	value int // rarity
}

// form is a stem that is looked for.
type form struct {
	key  string
	part int // of what it counts for, of 256
	how  Match
	text string // a word of it, as it is written; of typos only
}

// Match says how a word was found.
type Match string

// The ways.
const (
	Written Match = "word"
	Begun   Match = "beginning"
	Typo    Match = "typo"
	Joined  Match = "joined"
)

// split returns the words of a query. Common ones are left out, unless there is nothing else.
func split(query string) []string {
	var all, telling []string
	words(query, func(w string) bool {
		if !slices.Contains(all, w) {
			all = append(all, w)
			if !common(w) {
				telling = append(telling, w)
			}
		}
		return len(all) < maxQuery
	})
	if len(telling) > 0 {
		return telling
	}
	return all
}

// lexicon is the words of several indexes.
type lexicon []*Index

func (l lexicon) packs() (n int) {
	for _, x := range l {
		n += x.Len()
	}
	return n
}

// count returns how many packs have a word, and whether it is known.
func (l lexicon) count(word string) (n int, known bool, err error) {
	for _, x := range l {
		e, ok, err := x.lookup(word)
		if err != nil {
			return 0, false, err
		}
		n, known = n+e.count, known || ok
	}
	return n, known, nil
}

// wishes returns what a query looks for.
func (l lexicon) wishes(query string) ([]wish, error) {
	list := split(query)
	var wishes []wish
	for i, word := range list {
		w := wish{word: word, bits: 1 << i, whole: len(list) == 1}
		if err := l.form(&w, i == len(list)-1 && !strings.HasSuffix(query, " ")); err != nil {
			return nil, err
		}
		wishes = append(wishes, w)
	}
	for i := 1; i < len(list); i++ {
		w := wish{word: list[i-1] + list[i], bits: 3 << (i - 1), whole: len(list) == 2}
		if err := l.join(&wishes, w); err != nil {
			return nil, err
		}
	}
	if len(list) > 2 {
		w := wish{word: strings.Join(list, ""), bits: 1<<len(list) - 1, whole: true}
		if err := l.join(&wishes, w); err != nil {
			return nil, err
		}
	}
	return wishes, nil
}

// join adds a wish for words written as one, if anything is.
func (l lexicon) join(wishes *[]wish, w wish) error {
	key := stem(w.word)
	n, _, err := l.count(key)
	if err != nil || n == 0 {
		return err
	}
	w.forms, w.value = []form{{key: key, part: joined, how: Joined}}, rarity(n, l.packs())
	*wishes = append(*wishes, w)
	return nil
}

// form finds the forms of a word.
func (l lexicon) form(w *wish, last bool) error {
	key := stem(w.word)
	n, _, err := l.count(key)
	if err != nil {
		return err
	}
	if n > 0 {
		w.forms = []form{{key: key, part: asWritten, how: Written}}
	}
	have := n
	if len(w.word) >= begins && (last || n == 0) {
		part := begun
		if n > 0 {
			part = longer
		}
		more, err := l.begun(w.word, key, part)
		if err != nil {
			return err
		}
		if w.forms = append(w.forms, more.forms...); n == 0 {
			have = more.count
		}
	}
	if len(w.forms) == 0 {
		more, err := l.mistaken(w.word)
		if err != nil {
			return err
		}
		w.forms, have = more.forms, more.count
	}
	w.value = rarity(have, l.packs())
	return nil
}

// found is forms, and how many packs have the commonest of them.
type found struct {
	forms []form
	count int
}

// begun returns the stems of the words that begin with a word, the commonest of them.
func (l lexicon) begun(word, except string, part int) (found, error) {
	counts := map[string]int{}
	elsewhere := map[string]bool{} // stems that do not begin so, as deploy for deploym
	for _, x := range l {
		scanned := 0
		err := x.from(word, func(e entry) bool {
			scanned++
			if !strings.HasPrefix(e.key, word) || scanned > scanBegun {
				return false
			}
			if e.count > 0 {
				counts[e.key] += e.count
			} else if key := stem(e.key); !strings.HasPrefix(key, word) {
				elsewhere[key] = true
			}
			return true
		})
		if err != nil {
			return found{}, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(elsewhere)) {
		n, _, err := l.count(key)
		if err != nil {
			return found{}, err
		}
		counts[key] = n
	}
	delete(counts, except)
	return commonest(counts, maxBegun, func(string) form { return form{part: part, how: Begun} }), nil
}

// commonest returns those of the stems that most packs have.
func commonest(counts map[string]int, limit int, as func(key string) form) (f found) {
	keys := slices.Collect(maps.Keys(counts))
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	for _, key := range keys[:min(limit, len(keys))] {
		if counts[key] == 0 {
			break
		}
		one := as(key)
		one.key = key
		f.forms = append(f.forms, one)
		f.count = max(f.count, counts[key])
	}
	return f
}
