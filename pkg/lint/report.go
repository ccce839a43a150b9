package lint

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Finding is a finding of a rule, with the skill it belongs to and the text it is about.
type Finding struct {
	diag.Finding
	Skill string `json:"skill,omitempty"` // the skill's directory
	Text  string `json:"-"`               // the offending line, "" where the finding is about a file as a whole
}

// Report is what [Run] found.
type Report struct {
	Profiles []string  // the profiles asked for
	Skills   []string  // the directories of the skills that were checked, in order
	Findings []Finding // in order of path, line and column
}

// Count returns how many findings have that severity.
func (r Report) Count(s diag.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// OK reports whether there are no errors.
func (r Report) OK() bool { return r.Count(diag.SeverityError) == 0 }

// Rewrite changes every path in the report by the same function, as from a file system's root to the directory that
// the user is in.
func (r *Report) Rewrite(path func(string) string) {
	for i := range r.Skills {
		r.Skills[i] = path(r.Skills[i])
	}
	for i := range r.Findings {
		r.Findings[i].Path = path(r.Findings[i].Path)
		r.Findings[i].Skill = path(r.Findings[i].Skill)
	}
	r.sort()
}

func (r *Report) sort() {
	slices.Sort(r.Skills)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return diag.CompareFindings(a.Finding, b.Finding) })
}
