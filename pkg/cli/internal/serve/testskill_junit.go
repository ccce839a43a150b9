package serve

import (
	"io"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/evaluate"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/cli/internal/skilltest"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
)

// renderTestJUnit writes JUnit XML as Jenkins and GitLab read it: a suite for each skill, and those of the
// evaluation with an agent, if there is one.
func renderTestJUnit(w io.Writer, r *skilltest.Summary, live *evaluate.Report, short []evaluate.Shortfall) error {
	doc := render.JUnitSuites{Name: "skillpm test", Failures: r.Failed, Errors: r.Invalid, Skipped: r.Skipped}
	for _, s := range r.Skills {
		suite := render.JUnitSuite{Name: console.Printable(s.Dir)}
		class := render.JUnitClass(s.Dir)
		for _, c := range s.Results {
			j := render.JUnitCase{
				Class: class, Name: console.OneLine(c.Name), File: s.Dir + "/" + c.File, Line: c.Line,
				Time: strconv.FormatFloat(c.Took.Seconds(), 'f', 3, 64),
			}
			switch c.Outcome {
			case skilltest.Failed:
				suite.Failures++
				j.Failure = &render.JUnitText{
					Type: "failure", Message: console.OneLine(c.Mismatches[0].Message),
					Text: console.PrintableText(wrongText(c.Mismatches)),
				}
			case skilltest.Skipped:
				suite.Skipped++
				j.Skipped = &render.JUnitText{Message: console.OneLine(c.Reason)}
			}
			suite.Cases = append(suite.Cases, j)
		}
		if s.Err != nil {
			suite.Failures++
			doc.Errors, doc.Failures = doc.Errors-1, doc.Failures+1
			suite.Cases = append(suite.Cases, render.JUnitCase{
				Class: class, Name: "the test files are valid", Time: "0",
				Failure: &render.JUnitText{
					Type: "invalid", Message: console.OneLine(s.Problem),
					Text: console.PrintableText(s.Problem),
				},
			})
		}
		suite.Tests = len(suite.Cases)
		doc.Tests += suite.Tests
		doc.Suites = append(doc.Suites, suite)
	}
	if live != nil {
		evaluate.AddJUnit(&doc, live, short)
	}
	return doc.Write(w)
}

func wrongText(wrong []skilltest.Mismatch) string {
	var b strings.Builder
	for _, w := range wrong {
		b.WriteString(w.Message + "\n" + textdiff.Visible(w.Diff))
	}
	return b.String()
}
