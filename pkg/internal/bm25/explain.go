package bm25

import (
	"slices"
	"strings"
)

// Reason is where a document has a word of the query.
type Reason struct {
	Word  string // of the query; several words that were found as one, without spaces
	Query string // as the query has it
	Match Match
	Text  int     // the number of the document's text that it was found in: the first of the field that weighs most
	Found string  // as the document has it
	Share float64 // part of the document's points; only [Answer.Reasons] sets it

	terms []int // of the query
}

// Reasons returns what [Answer.Explain] does for a hit, with the share of each word in its points.
func (a *Answer) Reasons(h Hit, s *Schema, texts []Text) ([]Reason, error) {
	reasons, _ := a.Explain(s, texts)
	points := make([]int, len(a.terms))
	total := 0
	for n, t := range a.terms {
		var err error
		if points[n], err = a.indexes[h.Index].points(a.query, t, h.Number); err != nil {
			return nil, err
		}
		total += points[n]
	}
	for i, r := range reasons {
		for _, n := range r.terms {
			reasons[i].Share += float64(points[n]) / float64(max(total, 1))
		}
	}
	return reasons, nil
}

// points returns the points of a document for a term.
func (x *Index) points(q Query, t queryTerm, number int) (best int, err error) {
	for _, f := range t.forms {
		word, ok := x.lookup(f.key)
		if !ok {
			continue
		}
		points := f.points(q.formValue(t, f))
		err := x.postings(word, func(doc int, impact byte) {
			if doc == number {
				best = max(best, int(points[impact]))
			}
		})
		if err != nil {
			return 0, err
		}
	}
	return best, nil
}

// Term is a word that was searched for.
type Term struct {
	Word      string
	Weight    float64  // share of the weights of all words of the query
	Documents int      // that have the word itself
	Also      []string // synonyms, and the words that it was taken for
	From      string   // for a word that was added, the abbreviation or the words of the query
}

// Terms returns the words that were searched for.
func (a *Answer) Terms() []Term {
	full := 0
	for _, t := range a.terms {
		if t.from == "" {
			full += a.query.value(t)
		}
	}
	list := make([]Term, len(a.terms))
	for n, t := range a.terms {
		list[n] = Term{Word: t.word, From: t.from, Weight: float64(a.query.value(t)) / float64(max(full, 1))}
		list[n].Documents, _ = a.indexes.count(stem(t.word))
		for _, f := range t.forms {
			if f.match == MatchSynonym || f.match == MatchTypo {
				list[n].Also = append(list[n].Also, f.text)
			}
		}
	}
	return list
}

// Explain returns the best position of each word of the query in a document. Texts of fields with more weight come
// first. For each text it also returns which words it has, as bits.
func (a *Answer) Explain(s *Schema, texts []Text) (reasons []Reason, has []uint64) {
	has = make([]uint64, len(texts))
	best := make([]Reason, len(a.terms))
	budget := maxWords
	for i, t := range texts {
		field := s.Fields[t.Field]
		field.tokens(t.Text, func(k token) bool {
			if !k.joined {
				budget--
			}
			if field.Prose && isStopWord(k.word) {
				return budget > 0
			}
			key := stem(k.word)
			for n, term := range a.terms {
				f, ok := term.form(key)
				if !ok {
					continue
				}
				has[i] |= 1 << n
				r := Reason{Word: term.word, Query: term.word, Match: f.match, Text: i, Found: k.text}
				switch f.match {
				case MatchJoined:
					r.Word, r.Query = joinedWord(f.text), f.text
				case MatchLearned:
					r.Query = f.text
				}
				old := best[n]
				if old.Word == "" || texts[old.Text].Field == t.Field && old.Match != MatchExact &&
					f.match == MatchExact {
					best[n] = r
				}
			}
			return budget > 0
		})
	}
	for n, r := range best {
		switch {
		case r.Word == "":
		case n > 0 && r.Match == MatchJoined && best[n-1].Query == r.Query && len(reasons) > 0:
			last := &reasons[len(reasons)-1]
			last.terms = append(last.terms, n)
		default:
			r.terms = []int{n}
			reasons = append(reasons, r)
		}
	}
	return reasons, has
}

// form returns the form of a term that has a stem.
func (t queryTerm) form(key string) (form, bool) {
	i := slices.IndexFunc(t.forms, func(f form) bool { return f.key == key })
	if i < 0 {
		return form{}, false
	}
	return t.forms[i], true
}

func joinedWord(text string) string { return strings.ReplaceAll(text, " ", "") }
