package cli

import (
	"io"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
)

// jsonReport is the document that `validate --format json` prints.
type jsonReport struct {
	Version  int            `json:"version"` // of this format
	OK       bool           `json:"ok"`
	Profiles []string       `json:"profiles"`
	Skills   []string       `json:"skills"`
	Summary  jsonSummary    `json:"summary"`
	Findings []diag.Finding `json:"findings"`
}

type jsonSummary struct {
	Skills   int `json:"skills"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Advice   int `json:"advice"`
}

func renderJSON(w io.Writer, r lint.Report) error {
	doc := jsonReport{
		Version: 1, OK: r.OK(), Profiles: r.Profiles, Skills: r.Skills, Findings: r.Findings,
		Summary: jsonSummary{
			Skills: len(r.Skills), Errors: r.Count(diag.SeverityError), Warnings: r.Count(diag.SeverityWarning),
			Advice: r.Count(diag.SeverityAdvice),
		},
	}
	if doc.Findings == nil {
		doc.Findings = []diag.Finding{}
	}
	return writeJSON(w, doc)
}
