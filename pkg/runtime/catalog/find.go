package catalog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strings"
	"unicode"

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
	Word   string   `json:"word"`             // as the task has it
	Weight float64  `json:"weight"`           // share of the weights of all words of the task
	Skills int      `json:"skills"`           // number of skills that have it
	Also   []string `json:"also,omitempty"`   // synonyms and other words that are searched for instead of it
	Source string   `json:"source,omitempty"` // for a word that was added, the abbreviation or the words of the task
}

// FindResult is the result of a search.
type FindResult struct {
	Matches []Match    // the best first
	Words   []TaskWord // words that were searched for, in the order of the task
	Dropped []string   // words of a long task that were not searched for

	finder *Finder
	answer *bm25.Answer
}

// MatchThreshold is the minimum score of a skill that fits. In the tests, tasks that no skill fits score less.
const MatchThreshold = 0.13

// Finder searches a list of skills. It is for one goroutine at a time.
type Finder struct {
	candidates []Candidate
	index      *bm25.Index
	file       io.Closer // of the index, nil if it is in memory
	path       string    // of the file
}

// NewFinder indexes candidates in memory.
func NewFinder(candidates []Candidate) (*Finder, error) {
	f := &Finder{candidates: candidates}
	return f, f.build(context.Background())
}

// build indexes the candidates in memory.
func (f *Finder) build(ctx context.Context) error {
	var buf bytes.Buffer
	if err := bm25.Build(&buf, matchSchema(), f.documents(ctx)); err != nil {
		return err
	}
	var err error
	f.index, err = bm25.Read(matchSchema(), bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	return err
}

// documents yields the candidates with their instructions, until the context ends.
func (f *Finder) documents(ctx context.Context) iter.Seq2[bm25.Document, error] {
	return func(yield func(bm25.Document, error) bool) {
		for i := range f.candidates {
			if !yield(bm25.Document{Texts: f.texts(i)}, ctx.Err()) {
				return
			}
		}
	}
}

// texts returns the texts of a candidate. It reads its instructions if the candidate does not have them.
func (f *Finder) texts(i int) []bm25.Text {
	c := f.candidates[i]
	if c.skill != nil {
		c.Body = c.skill.instructions()
	}
	return c.texts()
}

// Close closes the file of the index.
func (f *Finder) Close() {
	if f.file != nil {
		_ = f.file.Close()
	}
}

// Find returns the skills that share words with a task, the best first, and by name if they score the same; their
// reasons are those of [FindResult.Explain]. A skill that the task names, as /name or as its only words, comes first. The
// search serves users and agents; which skill to load stays the model's decision.
//
// A score does not depend on which other skills match, so that [MatchThreshold] is meaningful: no skill exceeds it if
// none fits the task.
func (f *Finder) Find(task string) (*FindResult, error) {
	name, rest := commandName(task)
	query := bm25.Query{Text: cmp.Or(rest, task), Sentence: true}
	answer, err := bm25.Find([]*bm25.Index{f.index}, query, len(f.candidates))
	if diag.CodeOf(err) == diag.Invalid && f.file != nil { // the file is damaged
		_ = f.file.Close()
		f.file = nil
		_ = os.Remove(f.path) // the next process writes it anew
		if err = f.build(context.Background()); err == nil {
			answer, err = bm25.Find([]*bm25.Index{f.index}, query, len(f.candidates))
		}
	}
	if err != nil {
		return nil, err
	}
	return &FindResult{
		Matches: f.matches(task, name, answer), Words: taskWords(answer), Dropped: answer.Dropped,
		finder: f, answer: answer,
	}, nil
}

// matches returns the matches in their order. Name is the name in a task that begins with /name, "" for none.
func (f *Finder) matches(task, name string, answer *bm25.Answer) []Match {
	type rank struct{ candidate, number, score, named int }
	numbers := make([]int, len(f.candidates))
	for n, h := range answer.Hits {
		numbers[h.Number] = n + 1
	}
	task = strings.TrimSpace(task)
	var order []rank
	for i := range f.candidates {
		r := rank{candidate: i, number: numbers[i] - 1}
		if r.number >= 0 {
			r.score = int(math.Round(answer.Hits[r.number].Share * 1e9))
		}
		switch own := f.candidates[i].Name; {
		case name != "" && strings.EqualFold(own, name):
			r.named = byCommand
		case strings.EqualFold(task, own):
			r.named = byName
		}
		if r.score > 0 || r.named > 0 {
			order = append(order, r)
		}
	}
	slices.SortFunc(order, func(a, b rank) int {
		return cmp.Or(cmp.Compare(min(b.named, 1), min(a.named, 1)), cmp.Compare(b.score, a.score),
			strings.Compare(f.candidates[a.candidate].Name, f.candidates[b.candidate].Name),
			cmp.Compare(a.candidate, b.candidate))
	})
	matches := make([]Match, len(order))
	for i, r := range order {
		matches[i] = Match{
			Index: r.candidate, Name: f.candidates[r.candidate].Name, number: r.number,
			Score: math.Round(float64(r.score)/1e6) / 1000,
		}
		switch r.named {
		case byCommand:
			matches[i].Score, matches[i].Why = 1, []string{"requested by name"}
		case byName:
			matches[i].Score, matches[i].Why = 1, []string{"exact name"}
		}
	}
	return matches
}

// How a task names a skill.
const (
	byCommand = iota + 1 // as /name
	byName               // as its only words
)

// Explain adds the reasons of a match: which field has each word. It must be called before the finder is closed.
func (f *FindResult) Explain(m *Match) error {
	if m.number < 0 {
		return nil
	}
	schema, texts := matchSchema(), f.finder.texts(m.Index)
	reasons, err := f.answer.Reasons(f.answer.Hits[m.number], schema, texts)
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
	name, rest = task[1:], ""
	if end := strings.IndexFunc(name, unicode.IsSpace); end >= 0 {
		name, rest = name[:end], name[end:]
	}
	return name, strings.TrimSpace(rest)
}
