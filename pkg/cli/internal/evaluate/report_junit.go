package evaluate

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// WriteJUnit writes a report and its shortfalls as JUnit XML.
func WriteJUnit(w io.Writer, r *Report, short []Shortfall) error {
	doc := render.JUnitSuites{Name: "skillpm test"}
	AddJUnit(&doc, r, short)
	return doc.Write(w)
}

// AddJUnit adds a suite for each skill of a report. A case is passed if all runs with the skill passed. Otherwise it is
// failed if it is a shortfall, or if the pass rate of all cases of its kind is one. If not, it is skipped, so that a
// program that reads the report does not fail a build that skillpm accepts. A pass rate that is a shortfall is a failed
// case, too. Runs without the skill do not count.
func AddJUnit(doc *render.JUnitSuites, r *Report, short []Shortfall) {
	for i := range r.Skills {
		s := &r.Skills[i]
		suite := render.JUnitSuite{Name: console.Printable(s.Dir)}
		kinds, cases := map[Kind]bool{}, map[string]bool{}
		for _, f := range short {
			switch {
			case f.Dir != s.Dir || f.Skill != s.Name:
				continue
			case f.Case != "":
				cases[f.Case] = true
				continue
			case f.Against == "":
				kinds[f.Kind] = true
			}
			suite.Cases = append(suite.Cases, f.junit())
		}
		for j := range s.Cases {
			c := &s.Cases[j]
			suite.Cases = append(suite.Cases, c.junit(s.Dir, kinds[c.Kind] || cases[c.ID]))
		}
		for _, c := range suite.Cases {
			switch {
			case c.Failure != nil:
				suite.Failures++
			case c.Skipped != nil:
				suite.Skipped++
			}
		}
		suite.Tests = len(suite.Cases)
		doc.Add(suite)
	}
}

func (f Shortfall) junit() render.JUnitCase {
	name := "pass rate of " + string(f.Kind) + " cases"
	if f.Against != "" {
		name += " against " + string(f.Against)
	}
	return render.JUnitCase{
		Class: render.JUnitClass(f.Dir), Name: name, Time: "0",
		Failure: &render.JUnitText{Type: "threshold", Message: console.OneLine(f.Reason)},
	}
}

func (c *Case) junit(dir string, fails bool) render.JUnitCase {
	t := c.tally(With)
	j := render.JUnitCase{
		Class: render.JUnitClass(dir), Name: console.OneLine(c.ID), File: console.Printable(path.Join(dir, c.File)),
		Time: strconv.FormatFloat(t.seconds, 'f', 3, 64),
	}
	text := &render.JUnitText{Message: t.String(), Text: console.PrintableText(c.failures(With))}
	switch {
	case t.runs+t.errors == 0:
		j.Skipped = text
	case t.passed == t.runs && t.runs > 0:
	case fails:
		text.Type = "failure"
		j.Failure = text
	default:
		j.Skipped = text
	}
	return j
}

// tally counts the runs of a case with one variant.
type tally struct {
	runs, passed, errors int // runs are those without errors
	seconds              float64
}

func (c *Case) tally(v Variant) (t tally) {
	for i := range c.Runs {
		r := &c.Runs[i]
		if r.Variant != v {
			continue
		}
		t.seconds += r.Duration.Seconds()
		switch r.Outcome {
		case Errored:
			t.errors++
			continue
		case Passed:
			t.passed++
		case Failed, TimedOut:
		}
		t.runs++
	}
	return t
}

// String describes the runs in words.
func (t tally) String() string {
	switch {
	case t.runs+t.errors == 0:
		return "not run"
	case t.runs == 0:
		return "not measured: " + textx.Count(t.errors, "error")
	case t.errors > 0:
		return fmt.Sprintf("%d of %s passed; %s", t.passed, textx.Count(t.runs, "run"), textx.Count(t.errors, "error"))
	}
	return fmt.Sprintf("%d of %s passed", t.passed, textx.Count(t.runs, "run"))
}

// failures describes the runs of a variant that did not pass, a line for each reason.
func (c *Case) failures(v Variant) string {
	var b strings.Builder
	for i := range c.Runs {
		if r := &c.Runs[i]; r.Variant == v && r.Outcome != Passed {
			for _, reason := range c.reasons(r) {
				fmt.Fprintf(&b, "run %d: %s\n", r.Number, reason)
			}
		}
	}
	return b.String()
}

// reasons returns why a run did not pass.
func (c *Case) reasons(r *Run) (all []string) {
	switch r.Outcome {
	case Errored:
		if r.Error != "" {
			return []string{"error: " + textx.OneLine(r.Error)}
		}
	case TimedOut:
		all = append(all, "the agent did not end in time")
	case Passed, Failed:
	}
	for _, g := range r.Grades {
		if g.Passed {
			continue
		}
		reason := g.Grader + ": " + textx.OneLine(g.Text)
		if found := cmp.Or(g.Error, g.Evidence); found != "" {
			reason += ": " + textx.OneLine(found)
		}
		all = append(all, reason)
	}
	if len(all) > 0 || c.Kind != Trigger {
		return all
	}
	switch {
	case !c.shouldTrigger():
		return []string{"the prompt activated the skill"}
	case len(r.Activated) > 0:
		return []string{"the prompt activated " + textx.And(r.Activated) + " instead"}
	}
	return []string{"the prompt did not activate the skill"}
}
