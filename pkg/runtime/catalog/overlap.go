package catalog

import (
	"cmp"
	"context"
	"slices"
)

// overlapThreshold is the score from which two skills overlap. In a pool of 1,217 public skills, skills that reach it do
// the same, or are variants of each other.
const overlapThreshold = 0.6

// Overlap is a pair of skills that compete for the same tasks, because their descriptions have the same words.
type Overlap struct {
	First, Second int     // indexes of the candidates, in order
	Score         float64 // how well each skill matches the description of the other, as a share of how well it does
}

// FindOverlaps returns the pairs of candidates whose descriptions overlap by at least [overlapThreshold], the most similar
// first. It searches for each description as [Finder.Find] searches for a task. The instructions of skills do not count,
// because agents choose by name and description.
func FindOverlaps(ctx context.Context, candidates []Candidate) ([]Overlap, error) {
	listed := make([]Candidate, len(candidates))
	for i, c := range candidates {
		listed[i] = Candidate{Name: c.Name, Description: c.Description, WhenToUse: c.WhenToUse, Tags: c.Tags}
	}
	finder, err := NewFinder(listed)
	if err != nil {
		return nil, err
	}
	scores := map[[2]int]float64{} // by the one whose description is searched for, and the other one
	for i, c := range listed {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, err := finder.Find(c.Description + "\n" + c.WhenToUse)
		if err != nil {
			return nil, err
		}
		own := slices.IndexFunc(found.Matches, func(m Match) bool { return m.Index == i })
		if own < 0 {
			continue // a description without words
		}
		for _, m := range found.Matches {
			if score := m.Score / found.Matches[own].Score; m.Index != i && score >= overlapThreshold {
				scores[[2]int{i, m.Index}] = min(score, 1)
			}
		}
	}
	var all []Overlap
	for pair, score := range scores {
		if back, ok := scores[[2]int{pair[1], pair[0]}]; ok && pair[0] < pair[1] {
			all = append(all, Overlap{First: pair[0], Second: pair[1], Score: min(score, back)})
		}
	}
	slices.SortFunc(all, func(a, b Overlap) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second))
	})
	return all, nil
}
