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
	Text  int    // the number of the document's text that it was found in: the first of the field that weighs most
	Found string // as the document has it
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
				if f.match == MatchJoined {
					r.Word, r.Query = joinedWord(f.text), f.text
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
		if r.Word != "" && (n == 0 || r.Match != MatchJoined || best[n-1].Query != r.Query) {
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
