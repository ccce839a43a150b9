package search

// mistaken returns the stems of the words that a word becomes by one edit. Every edit is looked up, which takes the same
// time however many words there are. The first letter is usually right: words that begin with another count less.
func (l lexicon) mistaken(word string) (found, error) {
	if len(word) < shortest || !plainWord(word) {
		return found{}, nil
	}
	counts := map[string]int{}
	first := map[string]bool{}
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
		if key := stem(candidate); key != candidate {
			counts[key], _, failed = l.count(key)
			first[key] = first[key] || candidate[0] == word[0]
		}
		return failed == nil
	})
	if failed != nil {
		return found{}, failed
	}
	return commonest(counts, maxMistake, func(key string) form {
		if first[key] {
			return form{part: mistaken, how: Typo}
		}
		return form{part: mistaken / 2, how: Typo}
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

// edits calls found with what a word becomes when a letter is left out, two neighbours are swapped, or a letter is changed
// or added, until it returns false.
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
