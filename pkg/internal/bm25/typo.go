package bm25

import (
	"cmp"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// shortestTypo is the length of the shortest word that may have a mistake.
const shortestTypo = 4

// typos returns the stems of the words that one plausible edit makes of a word, and how many documents have the most
// common. It looks every edit up, which takes the same time for any number of words. The first letter is usually right:
// words that begin with another count less.
func (l indexes) typos(word string, plausible func(candidate string) bool) (forms []form, most int) {
	if len(word) < shortestTypo || !ascii(word) {
		return nil, 0
	}
	counts := map[string]int{}
	first := map[string]bool{}
	texts := map[string]string{} // as the words are written
	edits(word, func(candidate string) {
		if _, exists := l.count(candidate); !exists || !plausible(candidate) {
			return
		}
		for _, key := range []string{candidate, stem(candidate)} {
			counts[key], _ = l.count(key)
			first[key] = first[key] || candidate[0] == word[0]
		}
		if key := stem(candidate); len(candidate) > len(texts[key]) {
			texts[key] = candidate
		}
	})
	forms, most = mostCommon(counts, maxTypoForms, form{part: typoShare, match: MatchTypo})
	for i := range forms {
		f := &forms[i]
		f.text = cmp.Or(texts[f.key], f.key)
		if !first[f.key] {
			f.part /= 2
		}
	}
	return forms, most
}

func ascii(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return r >= 0x80 }) < 0
}

// edits calls yield with the results of leaving a letter out, swapping two neighbors, and changing or adding a letter.
func edits(word string, yield func(string)) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for i := range len(word) {
		yield(word[:i] + word[i+1:])
		if i > 0 && word[i] != word[i-1] {
			yield(word[:i-1] + word[i:i+1] + word[i-1:i] + word[i+1:])
		}
	}
	for i := range len(word) + 1 {
		for _, c := range letters {
			yield(word[:i] + string(c) + word[i:])
			if i < len(word) && byte(c) != word[i] {
				yield(word[:i] + string(c) + word[i+1:])
			}
		}
	}
}

// plausible reports whether a word in a sentence of so many terms may be a typo of a candidate. Swapped neighbors and
// doubled letters are typos; any other letter makes another word of a short one: plants aren't plans.
func plausible(word, candidate string, terms int) bool {
	if word[0] != candidate[0] {
		return false
	}
	shortest := 7
	if terms <= 2 { // not a sentence
		shortest = 5
	}
	if len(word) >= shortest {
		return true
	}
	a, b := word, candidate
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i]
	}
	return b[i] == b[i-1]
}

// maxScannedNear is how many words Nearest compares.
const maxScannedNear = 100_000

// Nearest returns a word of the indexes that is similar to a word without matches: it begins with the same letter and
// differs by at most two edits. It returns "" if there is none.
func Nearest(list []*Index, word string) string {
	if len(word) <= shortestTypo || !ascii(word) {
		return ""
	}
	var near []string
	for _, x := range list {
		start := x.startOf(word[:1])
		for i := start; i < min(x.words(), start+maxScannedNear) && x.word(i)[0] == word[0]; i++ {
			if w := x.word(i); len(w)-len(word) <= 2 && len(word)-len(w) <= 2 {
				near = append(near, string(w))
			}
		}
	}
	return diag.Nearest(word, near)
}
