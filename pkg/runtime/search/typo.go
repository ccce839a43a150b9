package search

import (
	"cmp"

	"github.com/skillpm/skillpm/pkg/diag"
)

// mistaken returns the stems of the words that a word becomes by one edit. Every edit is looked up, which takes the
// same time however many words there are. The first letter is usually right: words that begin with another count less.
func (l lexicon) mistaken(word string) (found, error) {
	if len(word) < shortest || !plainWord(word) {
		return found{}, nil
	}
	counts := map[string]int{}
	first := map[string]bool{}
	texts := map[string]string{} // as the words are written
	var failed error
	edits(word, func(candidate string) bool {
		n, known, err := l.count(candidate)
		if err != nil {
			failed = err
			return false
		}
		if !known {
			return true
		}
		counts[candidate] = n
		first[candidate] = first[candidate] || candidate[0] == word[0]
		key := stem(candidate)
		if key != candidate {
			counts[key], _, failed = l.count(key)
			first[key] = first[key] || candidate[0] == word[0]
		}
		if len(candidate) > len(texts[key]) {
			texts[key] = candidate
		}
		return failed == nil
	})
	if failed != nil {
		return found{}, failed
	}
	return commonest(counts, maxMistake, func(key string) form {
		f := form{part: mistaken, how: Typo, text: cmp.Or(texts[key], key)}
		if !first[key] {
			f.part /= 2
		}
		return f
	}), nil
}

func plainWord(word string) bool {
	for i := range len(word) {
		if word[i] >= 0x80 {
			return false
		}
	}
	return true
}

// edits calls found with what a word becomes when a letter is left out, two neighbours are swapped, or a letter is
// changed or added, until it returns false.
func edits(word string, found func(string) bool) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for i := range len(word) {
		if !found(word[:i] + word[i+1:]) {
			return
		}
		if i > 0 && word[i] != word[i-1] && !found(word[:i-1]+word[i:i+1]+word[i-1:i]+word[i+1:]) {
			return
		}
	}
	for i := range len(word) + 1 {
		for _, c := range letters {
			if !found(word[:i] + string(c) + word[i:]) {
				return
			}
			if i < len(word) && byte(c) != word[i] && !found(word[:i]+string(c)+word[i+1:]) {
				return
			}
		}
	}
}

// scanNear is how many words are looked at to find one that is near.
const scanNear = 100_000

// Near returns a word that packs have and that may be meant by one that nothing was found for: it begins as that does,
// and differs by two edits at most. It returns "" where there is none.
func Near(indexes []*Index, word string) (string, error) {
	if len(word) <= shortest || !plainWord(word) {
		return "", nil
	}
	var near []string
	for _, x := range indexes {
		scanned := 0
		err := x.from(word[:1], func(e entry) bool {
			if scanned++; scanned > scanNear || e.key[:1] != word[:1] {
				return false
			}
			if len(e.key)-len(word) <= 2 && len(word)-len(e.key) <= 2 {
				near = append(near, e.key)
			}
			return true
		})
		if err != nil {
			return "", err
		}
	}
	return diag.Nearest(word, near), nil
}
