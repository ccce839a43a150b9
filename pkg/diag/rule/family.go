package rule

import (
	"slices"
	"strings"
)

// Family is the letters that the ids of some rules start with, and what those rules are about.
type Family struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// Families returns all of them, in the order of reading: first the skill itself, then what is around it.
func Families() []Family {
	return []Family{
		{"FM", "Frontmatter"},
		{"STR", "Files and structure"},
		{"REF", "References between files"},
		{"SCR", "Scripts and data files"},
		{"SEC", "Hostile content, capabilities, and content to review"},
		{"PACK", "Several skills, and the files that describe packs"},
		{"XS", "References between skills"},
		{"STY", "Style"},
		{"SUP", "Suppressions"},
		{"POL", "Results of policies, with --policy"},
	}
}

// IsFamily reports whether the ids of rules of skillpm start with some letters.
func IsFamily(letters string) bool {
	return slices.ContainsFunc(Families(), func(f Family) bool { return f.ID == letters })
}

// IsTeamPattern reports whether a pattern can select rules of a team: an id such as ACME001, its letters, or the start
// of an id and a star, with letters that are not those of a family of skillpm.
func IsTeamPattern(pattern string) bool {
	id := strings.TrimSuffix(strings.ToUpper(pattern), "*")
	letters := strings.TrimRight(id, "0123456789")
	return len(letters) >= 2 && len(letters) <= 8 && len(id) <= len(letters)+3 && !IsFamily(letters) &&
		strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// Select returns the rules that the patterns mean, each once and in order of id; all where there is no pattern. The
// error is that of [CheckPattern].
func Select(patterns ...string) ([]Rule, error) {
	for _, p := range patterns {
		if err := CheckPattern(p); err != nil {
			return nil, err
		}
	}
	var out []Rule
	for _, r := range All() {
		if len(patterns) == 0 || matchesAny(patterns, r.ID) {
			out = append(out, r)
		}
	}
	return out, nil
}

func matchesAny(patterns []string, id string) bool {
	for _, p := range patterns {
		if Match(p, id) {
			return true
		}
	}
	return false
}

// Kind describes the severity and special properties of the rule in a few words, such as "error" or "capability".
func (r Rule) Kind() string {
	words := []string{r.Severity.String()}
	switch {
	case r.Off, r.Weak && r.Severity != e:
		words = append(words, "off by default")
	case r.Weak:
		words = append(words, "off by default below an error")
	}
	if r.Fixable {
		words = append(words, "fixable with --fix")
	}
	if r.Capability {
		words = append(words, "capability")
	}
	return strings.Join(words, ", ")
}
