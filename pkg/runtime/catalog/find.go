package catalog

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/bm25"
)

// Candidate is a skill as [FindMatches] searches it.
type Candidate struct {
	Name        string
	Description string
	WhenToUse   string
	Tags        []string
}

// Match is a skill that fits a task.
type Match struct {
	Index int // index of the candidate
	Name  string
	Score float64  // share of the task's words that the skill has, from 0 to 1
	Why   []string // reasons in words, the most important first
}

// MatchThreshold is the minimum score of a skill that fits. In the tests, tasks that no skill fits score less.
const MatchThreshold = 0.18

// matchSchema returns the searched fields and their weights.
func matchSchema() *bm25.Schema {
	return &bm25.Schema{Saturation: 7, LengthShare: 40, Fields: []bm25.Field{
		{Name: "name", Weight: 25, Title: true},
		{Name: "tags", Weight: 16},
		{Name: "description", Weight: 10, Usual: 15, Prose: true},
		{Name: "when to use", Weight: 10, Usual: 12, Prose: true},
	}}
}

// FindMatches returns the skills that share words with a task, the best first, and by name if they score the same. A
// skill that the task names, as /name or as its only words, comes first. It serves users and agents that search;
// which skill to load stays the model's decision.
//
// A score does not depend on which other skills match, so that [MatchThreshold] is meaningful: no skill exceeds it if
// none fits the task.
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
			m.Score, m.Why = 1, []string{"requested by name"}
		case strings.EqualFold(strings.TrimSpace(task), c.Name):
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
		m := &matches[i]
		m.Why = append(m.Why, whyMatch(answer, schema, candidates[m.Index].texts())...)
		m.Score = math.Round(m.Score*1000) / 1000
	}
	return matches, nil
}

// texts returns the texts of a skill, in the order of the schema's fields.
func (c *Candidate) texts() []bm25.Text {
	texts := []bm25.Text{{Field: 0, Text: c.Name}}
	for _, t := range c.Tags {
		texts = append(texts, bm25.Text{Field: 1, Text: t})
	}
	return append(texts, bm25.Text{Field: 2, Text: c.Description}, bm25.Text{Field: 3, Text: c.WhenToUse})
}

// whyMatch returns the words of the task that each field of a skill has. A word that differs from the task's is
// followed by that in parentheses.
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

// commandName splits a task that begins with /name.
func commandName(task string) (name, rest string) {
	task = strings.TrimSpace(task)
	if !strings.HasPrefix(task, "/") {
		return "", task
	}
	name, rest, _ = strings.Cut(task[1:], " ")
	return name, strings.TrimSpace(rest)
}

// isRequestWord reports whether a word occurs in requests of any kind and so distinguishes none.
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
