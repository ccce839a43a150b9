// Package match finds the skills that fit a task, for a person or an agent that searches: a model still decides by
// itself which skill it loads.
//
// It works in memory on what a catalogue knows before a skill is loaded, keeps nothing, and has no word of the skills
// stemmed that cannot fit. Equal input gives equal answers. The rules of fitting:
//   - Words are compared as [github.com/skillpm/skillpm/pkg/runtime/search] compares them: by English stems, without
//     case and accents, Chinese by pairs of letters. Common words, and those that every request has, say nothing.
//   - A word that no skill has may be the beginning of one, or one with a letter wrong; two words may be one, and one
//     two. A few abbreviations are known: k8s is kubernetes, and a PR is a pull request.
//   - A word counts for more where fewer skills have it (BM25), and in a name or tag more than in a sentence.
//   - The score is how much of what the task says the skill has, from 0 to 1. It does not depend on which other skills
//     fit, so that a threshold means something: nothing is found for a task that no skill is for.
//   - /name, or the name alone, is that skill, whatever else fits.
package match

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Doc is what a catalogue says of a skill before it is loaded.
type Doc struct {
	Name        string
	Description string
	WhenToUse   string
	Tags        []string
}

// Hit is a skill that fits.
type Hit struct {
	Index int // in the list that was given
	Name  string
	Score float64  // from 0 to 1
	Why   []string // in words, what weighs most first
}

// DefaultThreshold is the score that a skill has at least when it fits. Tasks that no skill of the test's catalogue is
// for stay below it.
const DefaultThreshold = 0.18

// Options say what is asked for.
type Options struct {
	Limit     int     // of hits, 0 for all
	Threshold float64 // the least score; 0 for all that have a word of the task
}

// Find returns the skills that fit a task, the best first; equals by name.
func Find(task string, docs []Doc, o Options) []Hit {
	name, rest := slash(task)
	q := newQuery(cmp.Or(rest, task))
	q.look(docs)
	hits := make([]Hit, 0, 16)
	for i := range docs {
		h := Hit{Index: i, Name: docs[i].Name, Score: q.score(i)}
		switch {
		case name != "" && strings.EqualFold(docs[i].Name, name):
			h.Score, h.Why = 1, []string{"asked for by its name"}
		case strings.EqualFold(strings.TrimSpace(task), docs[i].Name):
			h.Score, h.Why = 1, []string{"has just this name"}
		}
		if h.Score > 0 && h.Score >= o.Threshold {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(len(b.Why), len(a.Why)), cmp.Compare(b.Score, a.Score), strings.Compare(a.Name, b.Name), cmp.Compare(a.Index, b.Index))
	})
	if o.Limit > 0 {
		hits = hits[:min(o.Limit, len(hits))]
	}
	for i, h := range hits {
		hits[i].Why = append(h.Why, q.why(&docs[h.Index])...)
		hits[i].Score = math.Round(h.Score*1000) / 1000
	}
	return hits
}

// slash returns the name that a task begins with as a command, and what is after it.
func slash(task string) (name, rest string) {
	task = strings.TrimSpace(task)
	if !strings.HasPrefix(task, "/") {
		return "", task
	}
	name, rest, _ = strings.Cut(task[1:], " ")
	return name, strings.TrimSpace(rest)
}
