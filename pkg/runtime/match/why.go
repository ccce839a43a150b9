package match

import (
	"slices"
	"strings"
)

// why says which words of the task a skill has where. A word is named once, where it weighs most; what is not written
// as the task has it is followed by that.
func (q *query) why(d *Doc) (why []string) {
	var lists [fields][]string
	told := map[int]field{}
	d.texts(func(f field, text string) {
		q.read(f, text, func(m form, word string) {
			if old, ok := told[m.term]; ok && old != f {
				return
			}
			told[m.term] = f
			if word != m.as {
				word += " (" + m.as + ")"
			}
			if !slices.Contains(lists[f], word) {
				lists[f] = append(lists[f], word)
			}
		})
	})
	for f, words := range lists {
		if len(words) > 0 {
			why = append(why, field(f).String()+": "+strings.Join(words, ", "))
		}
	}
	return why
}

func (f field) String() string {
	return [...]string{"name", "tags", "description", "when to use"}[f]
}
