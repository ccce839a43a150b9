package match

import (
	"strings"

	"github.com/skillpm/skillpm/pkg/runtime/search"
)

// asking reports whether a word is one that requests have, whatever they are for.
func asking(word string) bool {
	switch word {
	case "please", "help", "want", "need", "would", "like", "could", "can", "let",
		"thing", "things", "something", "make", "get", "got", "use", "using", "do", "does",
		"way", "new", "one", "somebody", "someone", "people", "user", "give", "go", "says", "tell", "show", "know", "look", "find":
		return true
	}
	return false
}

// The shortest words that may be the beginning of others, and that may have a letter wrong. In a sentence, a short word
// that no skill has is another word more often than a mistake: plants are no plans.
const (
	begins       = 4
	mistaken     = 5
	longMistaken = 7
	few          = 2 // words that are no sentence
)

// guess finds words of skills that words of the task may mean which no skill has. It reports whether there are any.
func (q *query) guess(docs []Doc) (found bool) {
	var open []int
	var starts [256]bool
	for i, t := range q.terms {
		if t.docs == 0 && len(t.word) >= begins && ascii(t.word) {
			open = append(open, i)
			starts[t.word[0]] = true
		}
	}
	if len(open) == 0 {
		return false
	}
	looked := map[string]bool{}
	look := func(w string) bool {
		if !starts[w[0]] || looked[w] {
			return true
		}
		looked[w] = true
		for _, n := range open {
			if t := q.terms[n].word; t[0] == w[0] && q.means(t, w) {
				q.form(search.Stem(w), form{term: n, part: otherForm, as: t})
				found = true
			}
		}
		return true
	}
	for i := range docs {
		docs[i].texts(func(_ field, text string) { search.Words(text, look) })
	}
	clear(q.words)
	return found
}

// means reports whether a word of a task may be another: its beginning, or that with a letter wrong.
func (q *query) means(word, other string) bool {
	if strings.HasPrefix(other, word) {
		return true
	}
	least := longMistaken
	if len(q.terms) <= few {
		least = mistaken
	}
	edit := near(word, other)
	return edit == slip || edit == change && len(word) >= least
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

func number(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// edit is what makes one word of another.
type edit int

const (
	much   edit = iota // more than one letter
	change             // a letter is added, left out, or another one
	slip               // two neighbours are swapped, or a letter that is beside its like is added or left out
)

// near returns what makes one word of another.
func near(a, b string) edit {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case len(b)-len(a) > 1:
		return much
	case len(a) < len(b) && a[i:] == b[i+1:]:
		if i > 0 && b[i] == b[i-1] {
			return slip
		}
		return change
	case len(a) < len(b) || i == len(a):
		return much
	case a[i+1:] == b[i+1:]:
		return change
	case i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]:
		return slip
	}
	return much
}
