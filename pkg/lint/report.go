package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Report is what [Run] found.
type Report struct {
	Profiles []string       // the profiles asked for; of merged reports, not every skill was checked under all of them
	Skills   []string       // the directories of the skills that were checked, in order
	Findings []diag.Finding // in order of path, line and column

	Hosts      []HostVerdict // which profiles accept which skills, in order of skills, then of Profiles
	Suppressed []Suppressed  // findings that do not count, in the order of findings

	lines map[place]string
}

// HostVerdict says whether a profile accepts a skill.
type HostVerdict struct {
	Skill    string   `json:"skill"`
	Profile  string   `json:"profile"`
	Accepted bool     `json:"accepted"`
	Reasons  []string `json:"reasons"` // the rules of the errors, each once, in order
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
	for _, id := range other.Profiles {
		if !slices.Contains(r.Profiles, id) {
			r.Profiles = append(r.Profiles, id)
		}
	}
	r.Skills = append(r.Skills, other.Skills...)
	r.Findings = append(r.Findings, other.Findings...)
	r.Hosts = append(r.Hosts, other.Hosts...)
	r.Suppressed = append(r.Suppressed, other.Suppressed...)
	r.copyLines(other.lines)
}

// collect adds what one collector gathered.
func (r *Report) collect(c *collector) {
	r.Findings = append(r.Findings, c.l.merge(c.findings)...)
	r.Suppressed = append(r.Suppressed, c.suppressed...)
	r.copyLines(c.lines)
}

func (r *Report) copyLines(lines map[place]string) {
	if r.lines == nil {
		r.lines = make(map[place]string, len(lines))
	}
	maps.Copy(r.lines, lines)
}

func (r *Report) sort() {
	slices.Sort(r.Skills)
	slices.SortStableFunc(r.Findings, diag.CompareFindings)
	slices.SortStableFunc(r.Suppressed, func(a, b Suppressed) int { return diag.CompareFindings(a.Finding, b.Finding) })
	slices.SortStableFunc(r.Hosts, func(a, b HostVerdict) int { return strings.Compare(a.Skill, b.Skill) })
}

// Accept takes out findings that are accepted elsewhere, as in a baseline: those that accepted gives a reason for.
func (r *Report) Accept(by string, accepted func(diag.Finding) (reason string, ok bool)) {
	kept := r.Findings[:0]
	for _, f := range r.Findings {
		if reason, ok := accepted(f); ok {
			r.Suppressed = append(r.Suppressed, Suppressed{Finding: f, Reason: reason, By: by})
			continue
		}
		kept = append(kept, f)
	}
	r.Findings = kept
	r.sort()
}

// Keep leaves only the findings, those that do not count among them, that are about a path which wanted accepts.
func (r *Report) Keep(wanted func(path string) bool) {
	other := func(f diag.Finding) bool { return !wanted(f.Path) && !slices.ContainsFunc(f.Related, wanted) }
	r.Findings = slices.DeleteFunc(r.Findings, other)
	r.Suppressed = slices.DeleteFunc(r.Suppressed, func(s Suppressed) bool { return other(s.Finding) })
}

// KeepSkills leaves only these of the skills and what hosts say of them; findings stay.
func (r *Report) KeepSkills(skills []string) {
	r.Skills = slices.DeleteFunc(r.Skills, func(s string) bool { return !slices.Contains(skills, s) })
	r.Hosts = slices.DeleteFunc(r.Hosts, func(h HostVerdict) bool { return !slices.Contains(skills, h.Skill) })
}

// Add adds a finding about a file that the linter itself does not look at.
func (r *Report) Add(f diag.Finding) {
	r.Findings = append(r.Findings, f)
	r.sort()
}
