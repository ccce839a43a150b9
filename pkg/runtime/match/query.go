package match

import (
	"math"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/runtime/search"
)

// The bounds of a task and of one text of a skill, in words. What is more is not looked at.
const (
	maxQuery = 48
	maxText  = 2000
)

// field is a part of a skill that words are found in, the weightiest first.
type field int

const (
	inName field = iota
	inTags
	inDescription
	inWhen
	fields
)

// weight returns what a word counts for in a field, beside one of a sentence.
func (f field) weight() float64 {
	switch f {
	case inName:
		return 2.5
	case inTags:
		return 1.6
	default:
		return 1
	}
}

// sentence reports whether a field has sentences.
func (f field) sentence() bool { return f >= inDescription }

// How words count. The tests' tasks are found as well with values half and twice as high.
const (
	saturation = 0.7  // the weight at which a word counts half of what it can count at most
	lengthPart = 0.4  // of the weight in sentences that depends on how long they are
	usual      = 25   // words of the sentences of a skill
	unknown    = 0.6  // what a word that no skill has counts for, of one that a single skill has
	numeral    = 0.3  // what a number counts for, of another word
	otherForm  = 0.55 // what is left of a word that is found by its beginning or with a letter wrong
)

// term is a word of a task.
type term struct {
	word  string
	value float64 // how much it says
	docs  int     // that have it
}

// form is what a word of a skill is for a task.
type form struct {
	term int
	part float64 // of what it counts for
	as   string  // what the task has
}

// query is a task that is looked for.
type query struct {
	terms  []term
	forms  map[string][]form // by stem
	words  map[string][]form // by word, of those that were met; nil for what is not looked for
	starts [256]bool         // the first bytes of the forms, which stemming leaves as they are
	found  []float64         // what the terms weigh in each skill, len(terms) at a time
	total  float64           // of the values
}

// newQuery takes a task apart.
func newQuery(task string) *query {
	q := &query{forms: map[string][]form{}, words: map[string][]form{}}
	var all, telling []string
	search.Words(task, func(w string) bool {
		if all = append(all, w); search.Common(w) || asking(w) {
			w = "" // keeps its neighbours apart
		}
		telling = append(telling, w)
		return len(all) < maxQuery
	})
	if strings.Join(telling, "") == "" {
		telling = all
	}
	for i, w := range telling {
		if w == "" {
			continue
		}
		n := q.add(w)
		if i > 0 && telling[i-1] != "" {
			key, as := search.Stem(telling[i-1]+w), telling[i-1]+" "+w
			q.form(key, form{term: n, part: 1, as: as})
			q.form(key, form{term: q.add(telling[i-1]), part: 1, as: as})
		}
	}
	return q
}

// add adds a word of the task and returns its number.
func (q *query) add(word string) int {
	key := search.Stem(word)
	for i, t := range q.terms {
		if search.Stem(t.word) == key {
			return i
		}
	}
	n := len(q.terms)
	q.terms = append(q.terms, term{word: word})
	q.form(key, form{term: n, part: 1, as: word})
	if other := alike(word); other != "" {
		q.form(search.Stem(other), form{term: n, part: 1, as: word})
	}
	return n
}

func (q *query) form(key string, f form) {
	if slices.ContainsFunc(q.forms[key], func(old form) bool { return old.term == f.term }) {
		return
	}
	q.forms[key] = append(q.forms[key], f)
	q.starts[key[0]] = true
}

// of returns what a word of a skill is for the task.
func (q *query) of(word string) []form {
	if !q.starts[word[0]] {
		return nil
	}
	f, ok := q.words[word]
	if !ok {
		f = q.forms[search.Stem(word)]
		q.words[strings.Clone(word)] = f
	}
	return f
}

// look finds the words of the task in the skills, and what each of them says.
func (q *query) look(docs []Doc) {
	q.count(docs)
	if q.guess(docs) {
		q.count(docs)
	}
	for i := range q.terms {
		t := &q.terms[i]
		if t.value = rarity(max(t.docs, 1), len(docs)); t.docs == 0 {
			t.value *= unknown
		}
		if number(t.word) {
			t.value *= numeral
		}
		q.total += t.value
	}
}

// rarity returns how much a word says that so many of all skills have.
func rarity(have, all int) float64 {
	return math.Log(1 + (float64(all-have)+0.5)/(float64(have)+0.5))
}

// count finds the words of the task in the skills.
func (q *query) count(docs []Doc) {
	n := len(q.terms)
	q.found = make([]float64, len(docs)*n)
	for i := range q.terms {
		q.terms[i].docs = 0
	}
	sentences := make([]float64, n)
	for i := range docs {
		found := q.found[i*n : (i+1)*n]
		clear(sentences)
		long := 0
		docs[i].texts(func(f field, text string) {
			to := found
			if f.sentence() {
				to = sentences
			}
			words := q.read(f, text, func(m form, _ string) { to[m.term] += f.weight() * m.part })
			if f.sentence() {
				long += words
			}
		})
		share := 1 / (1 - lengthPart + lengthPart*float64(max(long, usual/2))/usual)
		for t := range found {
			if found[t] += sentences[t] * share; found[t] > 0 {
				q.terms[t].docs++
			}
		}
	}
}

// read calls found with each word of the task in a text of a skill, as the text has it, and returns how many words the
// text has.
func (q *query) read(f field, text string, found func(m form, word string)) (long int) {
	last := ""
	search.Words(text, func(w string) bool {
		forms := q.of(w)
		if len(forms) == 0 && last != "" && !f.sentence() && q.starts[last[0]] {
			if forms = q.of(last + w); len(forms) > 0 {
				w = last + "-" + w
			}
		}
		for _, m := range forms {
			found(m, w)
		}
		last = w
		long++
		return long < maxText
	})
	return long
}

// texts calls found with each text of a skill.
func (d *Doc) texts(found func(f field, text string)) {
	found(inName, d.Name)
	for _, t := range d.Tags {
		found(inTags, t)
	}
	found(inDescription, d.Description)
	found(inWhen, d.WhenToUse)
}

// score returns how much of what the task says a skill has.
func (q *query) score(doc int) (sum float64) {
	if q.total == 0 {
		return 0
	}
	for i, weight := range q.found[doc*len(q.terms) : (doc+1)*len(q.terms)] {
		sum += q.terms[i].value * weight / (weight + saturation)
	}
	return sum / q.total
}
