package search

import (
	"cmp"
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
	const most = 64 // skills that are named
	wishes := e.wishes
	found := make([]bool, len(wishes))
	why = make([]Why, len(wishes))
	has := make([]uint16, len(d.Skills))
	d.texts(func(f field, skill int, text string) {
		last := ""
		words(text, func(w string) bool {
			alone, joined := e.stem(w), ""
			if last != "" && !f.prose() {
				joined = e.stem(last + w)
			}
			for i, wish := range wishes {
				text := w
				how, ok := wish.matches(alone)
				if !ok {
					how, ok = wish.matches(joined)
					text = last + "-" + w
				}
				if !ok {
					continue
				}
				if skill >= 0 {
					has[skill] |= wish.bits
				}
				if better := how == Written && why[i].Match != Written && why[i].Field == f.String(); !found[i] || better {
					found[i] = true
					why[i] = Why{Word: wish.word, Match: how, Field: f.String(), Found: text}
					if skill >= 0 {
						why[i].Skill = d.Skills[skill].Name
					}
				}
			}
			last = w
			return true
		})
	})
	kept := why[:0]
	for i, w := range why {
		if found[i] {
			kept = append(kept, w)
		}
	}
	order := make([]int, 0, len(has))
	for i, b := range has {
		if b != 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ones(has[b]), ones(has[a])) })
	for _, i := range order[:min(most, len(order))] {
		skills = append(skills, d.Skills[i].Name)
	}
	return kept, skills
}

func ones(b uint16) (n int) {
	for ; b != 0; b &= b - 1 {
		n++
	}
	return n
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
