package lint

import (
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Report is what [Run] found.
type Report struct {
	Profiles []string       // the profiles asked for
	Skills   []string       // the directories of the skills that were checked, in order
	Findings []diag.Finding // in order of path, line and column

	lines map[place]string
}

// place is a line of a file.
type place struct {
	path string
	line int
}

// Line returns the text of the line that a finding is about, without its ending; "" where it is about the whole file.
func (r Report) Line(f diag.Finding) string { return r.lines[place{f.Path, f.Line}] }

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

// Merge adds another report's skills and findings.
func (r *Report) Merge(other Report) {
	r.add(other)
	r.sort()
}

func (r *Report) add(other Report) {
	r.Profiles = other.Profiles
	r.Skills = append(r.Skills, other.Skills...)
	r.Findings = append(r.Findings, other.Findings...)
	if r.lines == nil {
		r.lines = make(map[place]string, len(other.lines))
	}
	maps.Copy(r.lines, other.lines)
}

func (r *Report) sort() {
	slices.Sort(r.Skills)
	slices.SortStableFunc(r.Findings, diag.CompareFindings)
}
