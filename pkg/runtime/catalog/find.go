package catalog

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/bm25"
)

// Candidate is what is known of a skill before it is loaded.
type Candidate struct {
	Name        string
	Description string
	WhenToUse   string
	Tags        []string
}

// Match is a skill that fits a task.
type Match struct {
	Index int // of the candidate
	Name  string
	Score float64  // how much of what the task says the skill has, from 0 to 1
	Why   []string // in words, what weighs most first
}

// MatchThreshold is the score that a skill has at least when it fits. Tasks that no skill of the tests is for stay
// below it.
const MatchThreshold = 0.18

// matchSchema returns the fields of skills and how their words count.
func matchSchema() *bm25.Schema {
	return &bm25.Schema{Saturation: 7, LengthShare: 40, Fields: []bm25.Field{
		{Name: "name", Weight: 25, Title: true},
		{Name: "tags", Weight: 16},
		{Name: "description", Weight: 10, Usual: 15, Prose: true},
		{Name: "when to use", Weight: 10, Usual: 12, Prose: true},
	}}
}

// FindMatches returns the skills that share words with a task, the best first; equals by name. It is for a user or an
// agent that searches: a model still decides itself which skill it loads. A skill that the task names, as /name or as
// its only words, comes first.
//
// The score does not depend on which other skills match, so that a threshold means something: nothing is above it for a
// task that no skill is for.
func FindMatches(task string, candidates []Candidate) ([]Match, error) {
	schema := matchSchema()
	index, err := bm25.New(schema, func(yield func(bm25.Document) bool) {
		for _, c := range candidates {
			if !yield(bm25.Document{Texts: c.texts()}) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	name, rest := commandName(task)
	query := bm25.Query{Text: cmp.Or(rest, task), Sentence: true, Ignore: isRequestWord, Synonym: synonym}
	answer, err := bm25.Find([]*bm25.Index{index}, query, len(candidates))
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(candidates))
	for _, h := range answer.Hits {
		scores[h.Number] = h.Share
	}
	var matches []Match
	for i, c := range candidates {
		m := Match{Index: i, Name: c.Name, Score: scores[i]}
		switch {
		case name != "" && strings.EqualFold(c.Name, name):
			m.Score, m.Why = 1, []string{"asked for by its name"}
		case strings.EqualFold(strings.TrimSpace(task), c.Name):
			m.Score, m.Why = 1, []string{"has just this name"}
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
		m := &matches[i]
		m.Why = append(m.Why, whyMatch(answer, schema, candidates[m.Index].texts())...)
		m.Score = math.Round(m.Score*1000) / 1000
	}
	return matches, nil
}

// texts returns the texts of a skill, in the order of the fields.
func (c *Candidate) texts() []bm25.Text {
	texts := []bm25.Text{{Field: 0, Text: c.Name}}
	for _, t := range c.Tags {
		texts = append(texts, bm25.Text{Field: 1, Text: t})
	}
	return append(texts, bm25.Text{Field: 2, Text: c.Description}, bm25.Text{Field: 3, Text: c.WhenToUse})
}

// whyMatch says which words of the task a skill has where. A word that is not written as in the task is followed by
// what the task has.
func whyMatch(answer *bm25.Answer, schema *bm25.Schema, texts []bm25.Text) (why []string) {
	words := make([][]string, len(schema.Fields))
	reasons, _ := answer.Explain(schema, texts)
	for _, r := range reasons {
		word := r.Found
		if word != r.Query {
			word = fmt.Sprintf("%s (%s)", word, r.Query)
		}
		if f := texts[r.Text].Field; !slices.Contains(words[f], word) {
			words[f] = append(words[f], word)
		}
	}
	for f, list := range words {
		if len(list) > 0 {
			why = append(why, schema.Fields[f].Name+": "+strings.Join(list, ", "))
		}
	}
	return why
}

// commandName returns the name that a task begins with as a command, and what is after it.
func commandName(task string) (name, rest string) {
	task = strings.TrimSpace(task)
	if !strings.HasPrefix(task, "/") {
		return "", task
	}
	name, rest, _ = strings.Cut(task[1:], " ")
	return name, strings.TrimSpace(rest)
}

// isRequestWord reports whether a word is one that requests have, whatever they are for.
func isRequestWord(word string) bool {
	switch word {
	case "please", "help", "want", "need", "would", "like", "could", "can", "let", "thing", "things",
		"something", "make",
		"get", "got", "use", "using", "do", "does", "way", "new", "one", "somebody", "someone", "people", "user",
		"give", "go",
		"says", "tell", "show", "know", "look", "find":
		return true
	}
	return false
}
