// Package rule is the table of everything that skillpm validate can find: the one source from which the documentation,
// `skillpm rules`, `skillpm explain` and SARIF's metadata are made.
//
// An id is never given to another rule and never reused. The first letters say what a rule is about: FM frontmatter,
// STR a skill's files and structure, REF references between files, SCR scripts and data files, SEC what is hostile or
// risky, PACK several skills and the files that describe packs, XS references between skills, STY style, SUP
// suppressions, POL what the policies say.
package rule

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Rule is one thing that can be wrong. A finding may be less severe than its rule, where the rule's text says when.
type Rule struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"`    // what is wrong, in a few words
	Severity diag.Severity `json:"severity"` // at its worst
	Why      string        `json:"why"`      // what happens otherwise, and when it is less severe
	Fix      string        `json:"fix"`      // how to mend it, where the finding does not say it better

	Off     bool `json:"off,omitempty"`     // it says something only when it is asked for
	Fixable bool `json:"fixable,omitempty"` // `validate --fix` mends it, in most cases
	// a fact about what the skill can do and no defect: --strict leaves it as it is
	Capability bool `json:"capability,omitempty"`

	// Bad and Good are examples: what the rule finds, and the same without it. A text that starts with "-- " is several
	// files, each after a line "-- path", "-- path 755", "-- path -> target" for a symbolic link or "-- path 5 MiB" for
	// a file that goes on up to that size; another is the SKILL.md of a skill in a directory of its name. See [Files].
	Bad  string `json:"bad"`
	Good string `json:"good"`

	// Profile is what the examples are checked under, where it is not the default one.
	Profile string `json:"profile,omitempty"`
}

// Family returns the letters at the start of the id.
func (r Rule) Family() string { return strings.TrimRight(r.ID, "0123456789") }

// e, w and a are the severities, for the tables.
const (
	e = diag.SeverityError
	w = diag.SeverityWarning
	a = diag.SeverityAdvice
)

// tables returns all rules; those of a family are together and in order. They are made when they are first needed:
// their examples are long.
var tables = sync.OnceValue(func() [][]Rule {
	return [][]Rule{
		frontmatterRules(), packRules(), referenceRules(), scriptRules(), securityRules(), structureRules(),
		styleRules(), suppressionRules(), skillRules(), policyRules(),
	}
})

// All returns every rule in order of id.
func All() []Rule {
	var all []Rule
	for _, t := range tables() {
		all = append(all, t...)
	}
	slices.SortFunc(all, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Lookup returns the rule of that id, in any case.
func Lookup(id string) (Rule, bool) {
	if r := find(strings.ToUpper(id)); r != nil {
		return *r, true
	}
	return Rule{}, false
}

// find returns the rule of an id, or nil.
func find(id string) *Rule {
	for _, t := range tables() {
		if len(t) == 0 || !strings.HasPrefix(id, t[0].Family()) {
			continue
		}
		for i := range t {
			if t[i].ID == id {
				return &t[i]
			}
		}
	}
	return nil
}

// Severity returns a rule's own severity.
func Severity(id string) diag.Severity {
	if r := find(id); r != nil {
		return r.Severity
	}
	return e
}

// Fix returns a rule's own remedy.
func Fix(id string) string {
	if r := find(id); r != nil {
		return r.Fix
	}
	return ""
}

// Match reports whether a pattern means a rule: its id, its family ("SEC"), or its first characters and a star
// ("SEC3*"), in any case.
func Match(pattern, id string) bool {
	pattern = strings.ToUpper(pattern)
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(id, prefix)
	}
	return pattern == id || pattern == strings.TrimRight(id, "0123456789")
}

// CheckPattern returns an error with code Usage when a pattern means no rule.
func CheckPattern(pattern string) error {
	var ids []string
	for _, r := range All() {
		if Match(pattern, r.ID) {
			return nil
		}
		ids = append(ids, r.ID)
	}
	err := diag.Errorf(diag.Usage, "there is no rule %q", pattern)
	start := strings.ToUpper(pattern)
	group := len(start) == len(strings.TrimRight(start, "0123456789"))+1 // a family and the first digit of its ids
	if group && slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(id, start) }) {
		return err.WithHint("did you mean %s*?", start)
	}
	if near := diag.Nearest(strings.ToUpper(pattern), ids); near != "" {
		return err.WithHint("did you mean %s? `skillpm rules` lists them", near)
	}
	return err.WithHint("`skillpm rules` lists them; a family as SEC means all of it")
}
