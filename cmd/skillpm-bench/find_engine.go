package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// ranked is a skill that an engine found.
type ranked struct {
	name  string
	score float64
}

// search ranks skills for a task.
type search func(task string) ([]ranked, error)

// engine ranks skills.
type engine struct {
	name      string
	threshold float64 // the score of a skill that fits; 0 if scores of different queries can't be compared
	open      func([]findSkill) (search, error)
}

// engines returns the engine of skillpm and those that it is compared with.
func engines() []engine {
	front := func(s findSkill) string { return s.Name + " " + s.front }
	body := func(s findSkill) string { return front(s) + " " + prefixOf(s.Body, 2500) }
	return []engine{
		{name: "skillpm", threshold: catalog.MatchThreshold, open: openSkillpm},
		{name: "BM25, frontmatter", open: openBM25(front, false)},
		{name: "BM25, 2,500 characters", open: openBM25(body, false)},
		{name: "BM25, repeated words", open: openBM25(body, true)},
	}
}

// openSkillpm returns the search of "skillpm find".
func openSkillpm(skills []findSkill) (search, error) {
	candidates := make([]catalog.Candidate, len(skills))
	for i, s := range skills {
		candidates[i] = s.Candidate
	}
	finder, err := catalog.NewFinder(candidates)
	return func(task string) ([]ranked, error) {
		found, err := finder.Find(task)
		if err != nil {
			return nil, err
		}
		var list []ranked
		for _, m := range found.Matches {
			list = append(list, ranked{m.Name, m.Score})
		}
		return list, nil
	}, err
}

// openBM25 returns a plain BM25 search over a text of each skill. If repeated is set, a word that the query repeats
// counts each time.
func openBM25(text func(findSkill) string, repeated bool) func([]findSkill) (search, error) {
	const k1, b = 1.2, 0.75
	return func(skills []findSkill) (search, error) {
		counts := make([]map[string]float64, len(skills))
		lengths := make([]float64, len(skills))
		have, average := map[string]float64{}, 0.0
		for i, s := range skills {
			counts[i] = map[string]float64{}
			for _, w := range lightStems(text(s)) {
				counts[i][w]++
				lengths[i]++
			}
			for w := range counts[i] {
				have[w]++
			}
			average += lengths[i] / float64(len(skills))
		}
		return func(task string) ([]ranked, error) {
			query := map[string]float64{}
			for _, w := range lightStems(task) {
				if query[w]++; !repeated {
					query[w] = 1
				}
			}
			words := slices.Sorted(maps.Keys(query))
			list := make([]ranked, len(skills))
			for i, s := range skills {
				list[i].name = s.Name
				for _, w := range words {
					if n := counts[i][w]; n > 0 {
						idf := math.Log(1 + (float64(len(skills))-have[w]+0.5)/(have[w]+0.5))
						list[i].score += query[w] * idf * n * (k1 + 1) / (n + k1*(1-b+b*lengths[i]/average))
					}
				}
			}
			slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
			return list, nil
		}, nil
	}
}

// lightStems returns the words of a text without common endings.
func lightStems(text string) []string {
	list := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	for i, w := range list {
		for _, ending := range []string{"ing", "ed", "es", "s"} {
			if base, ok := strings.CutSuffix(w, ending); ok && len(base) > 2 {
				list[i] = base
				break
			}
		}
	}
	return list
}
