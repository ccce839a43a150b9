package render

import (
	"io"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/publish"
)

// JSONReport is the output of "validate --format json".
type JSONReport struct {
	OK         bool                  `json:"ok"`
	Profiles   []string              `json:"profiles"`
	Skills     []string              `json:"skills"`
	Summary    JSONSummary           `json:"summary"`
	Matrix     []lint.ProfileVerdict `json:"matrix"`
	Findings   []diag.Finding        `json:"findings"`
	Suppressed []lint.Suppressed     `json:"suppressed"`
	Fixed      []publish.FixedFile   `json:"fixed,omitempty"` // files that --fix changed, or that --diff shows

	Capabilities []lint.Capabilities `json:"capabilities"`
}

// JSONSummary counts skills and findings.
type JSONSummary struct {
	Skills     int         `json:"skills"`
	Errors     int         `json:"errors"`
	Warnings   int         `json:"warnings"`
	Notes      int         `json:"notes"`
	Suppressed int         `json:"suppressed"`
	Fixable    JSONFixable `json:"fixable"`
	Rules      []JSONRule  `json:"rules"` // worst first
}

// JSONFixable counts the findings that --fix can fix.
type JSONFixable struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notes    int `json:"notes"`
}

// JSON writes a report as one JSON document.
func JSON(w io.Writer, o Outcome) error { return console.WriteDocument(w, document(o)) }

// NDJSON writes a report as one line, for --watch.
func NDJSON(w io.Writer, o Outcome) error { return console.WriteDocumentLine(w, document(o)) }

func document(o Outcome) JSONReport {
	doc := JSONReport{
		OK: o.OK(), Profiles: notNil(o.Profiles), Skills: notNil(o.Skills), Matrix: []lint.ProfileVerdict{},
		Findings: notNil(o.Findings), Suppressed: notNil(o.Suppressed),
		Capabilities: []lint.Capabilities{},
		Fixed:        o.Fixed,
		Summary: JSONSummary{
			Skills: len(o.Skills), Errors: o.Count(diag.SeverityError), Warnings: o.Count(diag.SeverityWarning),
			Notes: o.Count(diag.SeverityNote), Suppressed: len(o.Suppressed),
			Fixable: JSONFixable{
				Errors: o.fixable(diag.SeverityError), Warnings: o.fixable(diag.SeverityWarning),
				Notes: o.fixable(diag.SeverityNote),
			},
			Rules: o.rules(),
		},
	}
	for _, h := range o.Verdicts {
		h.Reasons = notNil(h.Reasons)
		doc.Matrix = append(doc.Matrix, h)
	}
	for _, c := range o.Capabilities {
		c.Evidence = notNil(c.Evidence)
		doc.Capabilities = append(doc.Capabilities, c)
	}
	return doc
}

// notNil returns a list that is encoded as [] if it is empty.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// fixable counts the findings of a severity that --fix can fix.
func (o Outcome) fixable(s diag.Severity) int {
	n := 0
	for _, f := range o.Findings {
		if f.Severity == s && f.Fixable {
			n++
		}
	}
	return n
}
