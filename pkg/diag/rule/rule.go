// Package rule is the table of validation rules. The documentation, `skillpm rules`, `skillpm explain`, and SARIF's
// metadata are generated from it. Start reading at [Rule]; this package may change at any time.
//
// An id is never reused for another rule. The first letters say what a rule is about: FM frontmatter,
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

// Rule is a validation rule. A finding may be less severe than its rule, as the rule's text explains.
type Rule struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"`    // what is wrong, in a few words
	Severity diag.Severity `json:"severity"` // at its worst
	Why      string        `json:"why"`      // what happens otherwise, and when it is less severe
	Fix      string        `json:"fix"`      // how to fix it, if the finding has no better advice

	Off bool `json:"off,omitempty"` // it is off by default
	// Weak marks a rule whose findings below an error are off by default, because alone they are often wrong. They count
	// in the score of a skill.
	Weak    bool `json:"weak,omitempty"`
	Fixable bool `json:"fixable,omitempty"` // `validate --fix` fixes it, in most cases
	// Capability marks a note about what a skill can do, which --strict does not turn into an error.
	Capability bool `json:"capability,omitempty"`

	// Bad and Good are examples: what the rule finds, and the same without it. A text that starts with "-- " is several
	// files, each after a line "-- path", "-- path 755", "-- path -> target" for a symbolic link or "-- path 5 MiB" for
	// a file that goes on up to that size; another is the SKILL.md of a skill in a directory of its name. See [Files].
	Bad  string `json:"bad"`
	Good string `json:"good"`

	// Profile is the profile of the examples, if it is not the default one.
	Profile string `json:"profile,omitempty"`
}

// Family returns the letters at the start of the id.
func (r Rule) Family() string { return strings.TrimRight(r.ID, "0123456789") }

// e, w and a are the severities, for the tables.
const (
	e = diag.SeverityError
	w = diag.SeverityWarning
	a = diag.SeverityNote
)

// tables returns all rules; those of a family are consecutive and in order. They are built on first use, because their
// examples are long.
var tables = sync.OnceValue(func() [][]Rule {
	return [][]Rule{
		frontmatterRules(), packRules(), referenceRules(), scriptRules(), securityRules(), contentRules(), structureRules(),
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

// Fix returns a rule's own advice.
func Fix(id string) string {
	if r := find(id); r != nil {
		return r.Fix
	}
	return ""
}

// Match reports whether a pattern matches a rule: its id, its family ("SEC"), or its first characters and a star
// ("SEC3*"), ignoring case.
func Match(pattern, id string) bool {
	pattern = strings.ToUpper(pattern)
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(id, prefix)
	}
	return pattern == id || pattern == strings.TrimRight(id, "0123456789")
}

// CheckPattern returns an error with code Usage if a pattern matches no rule.
func CheckPattern(pattern string) error {
	var ids []string
	for _, r := range All() {
		if Match(pattern, r.ID) {
			return nil
		}
		ids = append(ids, r.ID)
	}
	err := diag.Errorf(diag.Usage, "unknown rule %q", pattern)
	start := strings.ToUpper(pattern)
	group := len(start) == len(strings.TrimRight(start, "0123456789"))+1 // a family and the first digit of its ids
	if group && slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(id, start) }) {
		return err.WithHint("did you mean %s*?", start)
	}
	if near := diag.Nearest(strings.ToUpper(pattern), ids); near != "" {
		return err.WithHint("did you mean %s? list rules with: skillpm explain", near)
	}
	return err.WithHint("list rules with \"skillpm explain\"; a family such as SEC selects all its rules")
}
