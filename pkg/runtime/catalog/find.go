package catalog

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bm25"
)

// Candidate is a skill as it is searched.
type Candidate struct {
	Name        string
	Description string
	WhenToUse   string
	Tags        []string
	Body        string   // instructions, which are searched up to a limit
	Files       []string // names of its files

	skill *Skill // whose instructions are read when they are needed; nil if Body has them
}

// Match is a skill that fits a task.
type Match struct {
	Index int // index of the candidate
	Name  string
	Score float64     // share of the task that the skill covers, from 0 to 1
	Why   []string    // reasons in words, the most important first
	Words []WordMatch // the words of the task that the skill has

	number int // index in the answer, -1 if only the name matches
}

// WordMatch is a word of a task that a skill has.
type WordMatch struct {
	Word  string  `json:"word"`  // of the task
	Found string  `json:"found"` // as the skill has it
	Field string  `json:"field"` // the field with the most weight that has it
	How   string  `json:"how"`   // word, joined, synonym, abbreviation, beginning, or typo
	Share float64 `json:"share"` // part of the score
}

// TaskWord is a word that skills are searched for.
type TaskWord struct {
	Word   string   `json:"word"`
	Weight float64  `json:"weight"`           // share of the weights of all words of the task
	Skills int      `json:"skills"`           // number of skills that have it
	Also   []string `json:"also,omitempty"`   // synonyms and other words that are searched for instead of it
	Source string   `json:"source,omitempty"` // for a word that was added, the abbreviation or the words of the task
}

// Found is the result of a search.
type Found struct {
	Matches []Match    // the best first
	Words   []TaskWord // words that were searched for, in the order of the task
	Dropped []string   // words of a long task that were not searched for
}

// MatchThreshold is the minimum score of a skill that fits. In the tests, tasks that no skill fits score less.
const MatchThreshold = 0.18

// FindMatches returns the skills that share words with a task, the best first, and by name if they score the same. See
// [Finder.Find].
func FindMatches(task string, candidates []Candidate) ([]Match, error) {
	f, err := NewFinder(candidates)
	if err != nil {
		return nil, err
	}
	found, err := f.Find(task, len(candidates))
	if err != nil {
		return nil, err
	}
	return found.Matches, nil
}

// Finder searches a list of skills. It is for one goroutine at a time.
type Finder struct {
	candidates []Candidate
	index      *bm25.Index
	file       io.Closer // of the index, nil if it is in memory
}

// NewFinder indexes candidates in memory.
func NewFinder(candidates []Candidate) (*Finder, error) {
	f := &Finder{candidates: candidates}
	return f, f.build()
}

// build indexes the candidates in memory.
func (f *Finder) build() (err error) {
	f.index, err = bm25.New(matchSchema(), func(yield func(bm25.Document) bool) {
		for i := range f.candidates {
			if !yield(bm25.Document{Texts: f.candidates[i].texts()}) {
				return
			}
		}
	})
	return err
}

// Close closes the file of the index.
func (f *Finder) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Find returns the skills that share words with a task. The first ones, up to explained, have their reasons. A skill
// that the task names, as /name or as its only words, comes first. The search serves users and agents; which skill to
// load stays the model's decision.
//
// A score does not depend on which other skills match, so that [MatchThreshold] is meaningful: no skill exceeds it if
// none fits the task.
func (f *Finder) Find(task string, explained int) (*Found, error) {
	name, rest := commandName(task)
	query := bm25.Query{Text: cmp.Or(rest, task), Sentence: true}
	answer, err := bm25.Find([]*bm25.Index{f.index}, query, len(f.candidates))
	if diag.CodeOf(err) == diag.Invalid && f.file != nil { // the file is damaged
		_ = f.file.Close()
		f.file = nil
		if err = f.build(); err == nil {
			answer, err = bm25.Find([]*bm25.Index{f.index}, query, len(f.candidates))
		}
	}
	if err != nil {
		return nil, err
	}
	found := &Found{Matches: f.matches(task, name, answer), Dropped: answer.Dropped}
	found.Words = taskWords(answer)
	for i := range found.Matches[:min(explained, len(found.Matches))] {
		if err := f.explain(answer, &found.Matches[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// matches returns the matches in their order. Name is the name in a task that begins with /name, "" for none.
func (f *Finder) matches(task, name string, answer *bm25.Answer) []Match {
	numbers := make([]int, len(f.candidates))
	for i := range numbers {
		numbers[i] = -1
	}
	for n, h := range answer.Hits {
		numbers[h.Number] = n
	}
	var matches []Match
	for i := range f.candidates {
		m := Match{Index: i, Name: f.candidates[i].Name, number: numbers[i]}
		if m.number >= 0 {
			m.Score = answer.Hits[m.number].Share
		}
		switch {
		case name != "" && strings.EqualFold(m.Name, name):
			m.Score, m.Why = 1, []string{"requested by name"}
		case strings.EqualFold(strings.TrimSpace(task), m.Name):
			m.Score, m.Why = 1, []string{"exact name"}
		}
		if m.Score > 0 {
			matches = append(matches, m)
		}
	}
	slices.SortFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(len(b.Why), len(a.Why)), cmp.Compare(b.Score, a.Score),
			strings.Compare(a.Name, b.Name),
			cmp.Compare(a.Index, b.Index))
	})
	for i := range matches {
		matches[i].Score = math.Round(matches[i].Score*1000) / 1000
	}
	return matches
}

// explain adds the reasons of a match.
func (f *Finder) explain(answer *bm25.Answer, m *Match) error {
	if m.number < 0 {
		return nil
	}
	schema, texts := matchSchema(), f.candidates[m.Index].texts()
	reasons, err := answer.Reasons(answer.Hits[m.number], schema, texts)
	if err != nil {
		return err
	}
	words := make([][]string, len(schema.Fields))
	for _, r := range reasons {
		field := texts[r.Text].Field
		m.Words = append(m.Words, WordMatch{
			Word: r.Query, Found: r.Found, Field: schema.Fields[field].Name, How: string(r.Match),
			Share: math.Round(r.Share*1000) / 1000,
		})
		word := r.Found
		if word != r.Query {
			word = fmt.Sprintf("%s (%s)", word, r.Query)
		}
		if !slices.Contains(words[field], word) {
			words[field] = append(words[field], word)
		}
	}
	for field, list := range words {
		if len(list) > 0 {
			m.Why = append(m.Why, schema.Fields[field].Name+": "+strings.Join(list, ", "))
		}
	}
	return nil
}

// taskWords returns the words that were searched for.
func taskWords(answer *bm25.Answer) []TaskWord {
	var list []TaskWord
	for _, t := range answer.Terms() {
		list = append(list, TaskWord{
			Word: t.Word, Weight: math.Round(t.Weight*1000) / 1000, Skills: t.Documents, Also: t.Also, Source: t.From,
		})
	}
	return list
}

// commandName splits a task that begins with /name.
func commandName(task string) (name, rest string) {
	task = strings.TrimSpace(task)
	if !strings.HasPrefix(task, "/") {
		return "", task
	}
	name, rest, _ = strings.Cut(task[1:], " ")
	return name, strings.TrimSpace(rest)
}
