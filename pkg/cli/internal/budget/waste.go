package budget

import (
	"strings"
	"unicode"

	"github.com/skillpm/skillpm/pkg/internal/tokens"
)

// Waste is the part of a description that costs tokens without telling a model when to use the skill.
type Waste struct {
	Repeated int // tokens of sentences that a description has twice, or that other descriptions have, too; without Cut
	Others   int // most other descriptions with the same sentence
	Cut      int // tokens after the last character that every agent reads
}

// Tokens returns the sum.
func (w Waste) Tokens() int { return w.Repeated + w.Cut }

// minSentence is the number of tokens of the shortest sentence whose repetition counts.
const minSentence = 4

// Description is the description of a listed skill.
type Description struct {
	Skill, Text string
	Cap         int // the number of characters that every agent reads, 0 for all
}

// Tokens returns the number of its tokens.
func (d Description) Tokens() int { return tokens.Estimate(d.Text) }

// split divides the text into what every agent reads and the rest.
func (d Description) split() (text, rest string) {
	if runes := []rune(d.Text); d.Cap > 0 && len(runes) > d.Cap {
		return string(runes[:d.Cap]), string(runes[d.Cap:])
	}
	return d.Text, ""
}

// FindWaste returns the waste in the descriptions of skills that are listed together, in their order. A skill with the
// same name and description is the same skill in another directory.
func FindWaste(descriptions []Description) []Waste {
	in := map[string]int{} // the number of descriptions with a sentence
	all, known := make([][]string, len(descriptions)), map[[2]string]bool{}
	out := make([]Waste, len(descriptions))
	for i, d := range descriptions {
		text, rest := d.split()
		all[i], out[i].Cut = sentences(text), tokens.Estimate(rest)
		id := [2]string{d.Skill, d.Text}
		if known[id] {
			continue
		}
		known[id] = true
		seen := map[string]bool{}
		for _, s := range all[i] {
			if key := sentenceKey(s); !seen[key] {
				seen[key] = true
				in[key]++
			}
		}
	}
	for i := range out {
		w, seen := &out[i], map[string]bool{}
		for _, s := range all[i] {
			key, n := sentenceKey(s), tokens.Estimate(s)
			if n < minSentence || in[key] < 2 && !seen[key] {
				seen[key] = true
				continue
			}
			seen[key] = true
			w.Repeated += n
			w.Others = max(w.Others, in[key]-1)
		}
	}
	return out
}

// sentences splits a description after each full stop, question mark, exclamation mark, and semicolon before a space,
// and after their ideographic forms.
func sentences(text string) (out []string) {
	start := 0
	for i, r := range text {
		next := i + len(string(r))
		ends := strings.ContainsRune("。！？；", r) ||
			strings.ContainsRune(".!?;", r) && (next == len(text) || text[next] == ' ')
		if ends {
			out = append(out, strings.TrimSpace(text[start:next]))
			start = next
		}
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// sentenceKey returns the letters and digits of a sentence in lower case, which equal sentences share.
func sentenceKey(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}
