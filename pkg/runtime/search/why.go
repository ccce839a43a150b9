package search

import (
	"cmp"
	"math/bits"
	"slices"
)

// Why says where a pack has a word of the query.
type Why struct {
	Word  string // of the query
	Match Match  // how it was found
	Field string // name, owner, tag, skill, description, skill description: the one that weighs most
	Found string // as the pack has it
	Skill string // whose name or description it is in, "" for the pack's own
}

// explainer finds the words of a query in packs.
type explainer struct {
	wishes []wish
	starts [256]bool         // the first bytes of what is looked for, which stemming leaves as they are
	stems  map[string]string // of words that begin so
	left   int               // words of the pack that are still looked at
}

func newExplainer(wishes []wish) *explainer {
	e := &explainer{wishes: wishes, stems: map[string]string{}}
	for _, w := range wishes {
		for _, f := range w.forms {
			e.starts[f.key[0]] = true
		}
	}
	return e
}

// stem returns the stem of a word, "" for one that is not looked for.
func (e *explainer) stem(word string) string {
	if !e.starts[word[0]] {
		return ""
	}
	key, ok := e.stems[word]
	if !ok {
		key = stem(word)
		e.stems[word] = key
	}
	return key
}

// explain finds the words of the query in a pack, and the skills that have them.
func (e *explainer) explain(d *Doc) (why []Why, skills []string) {
	found := make([]Why, len(e.wishes))
	has := make([]uint16, len(d.Skills))
	e.left = maxWords
	d.texts(func(f field, skill int, text string) {
		e.read(f, text, func(i int, w Why) {
			if skill >= 0 {
				has[skill] |= e.wishes[i].bits
				w.Skill = d.Skills[skill].Name
			}
			if old := found[i]; old.Field == "" || old.Field == w.Field && old.Match != Written && w.Match == Written {
				found[i] = w
			}
		})
	})
	for _, w := range found {
		if w.Field != "" {
			why = append(why, w)
		}
	}
	return why, named(d.Skills, has)
}

// read calls found for each word of a text that is looked for, with the number of the wish.
func (e *explainer) read(f field, text string, found func(wish int, w Why)) {
	last := ""
	words(text, func(w string) bool {
		alone, joined := e.stem(w), ""
		if last != "" && !f.prose() {
			joined = e.stem(last + w)
		}
		for i, wish := range e.wishes {
			if how, ok := wish.matches(alone); ok {
				found(i, Why{Word: wish.word, Match: how, Field: f.String(), Found: w})
			} else if how, ok := wish.matches(joined); ok {
				found(i, Why{Word: wish.word, Match: how, Field: f.String(), Found: last + "-" + w})
			}
		}
		last = w
		e.left--
		return e.left > 0
	})
}

// named returns the names of the skills that have words of the query, those with the most first.
func named(skills []Skill, has []uint16) (names []string) {
	const most = 64
	order := make([]int, 0, len(has))
	for i, b := range has {
		if b != 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(bits.OnesCount16(has[b]), bits.OnesCount16(has[a])) })
	for _, i := range order[:min(most, len(order))] {
		names = append(names, skills[i].Name)
	}
	return names
}

// matches reports whether a stem is one of those that are looked for.
func (w *wish) matches(key string) (Match, bool) {
	for _, f := range w.forms {
		if f.key == key && key != "" {
			return f.how, true
		}
	}
	return "", false
}
