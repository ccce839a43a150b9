package diag

// Nearest returns the word most similar to word: the one with the fewest edits, if those are at most two and fewer than
// half of word's characters. It returns "" if there is none. Of equals it returns the first.
func Nearest(word string, words []string) string {
	best, found := 3, ""
	if half := (len([]rune(word)) + 1) / 2; half < best {
		best = half
	}
	wanted := []rune(word)
	for _, w := range words {
		if d := distance(wanted, []rune(w), best); d < best && w != word {
			best, found = d, w
		}
	}
	return found
}

// distance counts the insertions, deletions, substitutions and swaps of neighbors that turn a into b. It returns limit
// early if their lengths differ by that much.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
