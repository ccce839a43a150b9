package evaluate

import (
	"context"
	_ "embed" // the style of the page
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/page"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.960 generate

//go:embed report_page.css
var style string

const (
	passHint = "The dot is the share of runs that passed. The line is the 95% confidence interval: more runs make it " +
		"shorter. It is about these cases, not about other prompts. A difference may be chance if its interval contains 0."
	triggerHint = "Recall is the share of prompts that should activate the skill and did. Precision is the share of " +
		"activations that were right."
	quantityHint = "Each dot is a run. The bar is the median, and the number in bold is the mean. " +
		"A ring at the right end stands for runs beyond the scale."
	caseHint = "Each mark is a run. Select a case to see its prompt, grades, and output."
)

const (
	mostDetails = 16 << 20 // bytes of the details of runs on a page
	perRun      = 1 << 10  // bytes of a run's details without its texts
	mostAside   = 60       // characters of a task's prompt next to its id
)

// WriteHTML writes a report as one self-contained HTML page, compared with an earlier report, which may be nil.
func WriteHTML(w io.Writer, r, base *Report) error {
	v := view{r: r, base: base, s: Summarize(r, base), rest: mostDetails}
	return v.document().Render(context.Background(), w)
}

// view is a report as a page shows it.
type view struct {
	r, base *Report
	s       Summary
	rest    int // bytes that the details of runs may still have
	omitted int // runs whose details are not shown
}

// fits reports whether the page has space for the details of a run.
func (v *view) fits(r *Run) bool {
	v.rest -= perRun + len(r.Error) + len(r.Output)
	for _, g := range r.Grades {
		v.rest -= len(g.Text) + len(g.Evidence) + len(g.Error)
	}
	if v.rest < 0 {
		v.omitted++
	}
	return v.rest >= 0
}

func (v *view) title() string {
	if len(v.r.Skills) == 1 {
		return "Evaluation of " + page.Visible(v.r.Skills[0].Name)
	}
	return "Skill evaluation"
}

// agent names the agent of a report, its version, and the model.
func (r *Report) agent() string {
	name := strings.TrimSpace(r.Agent + " " + r.AgentVersion)
	if r.Model != "" {
		name += " (" + r.Model + ")"
	}
	return page.Visible(name)
}

// lead is the first paragraph of the page.
func (v *view) lead() string {
	runs, cases := v.r.size()
	text := fmt.Sprintf("%s of %s in %s, with %s, on %s, in %s.", page.Plural(int64(runs), "run"),
		page.Plural(int64(cases), "case"), page.Plural(int64(len(v.r.Skills)), "skill"), v.r.agent(), day(v.r),
		duration(v.r.Duration.Seconds()))
	if v.base != nil {
		text += fmt.Sprintf(" The baseline is of %s, with %s.", day(v.base), v.base.agent())
	}
	return text
}

func day(r *Report) string { return r.Started.UTC().Format("2 January 2006") }

// size returns how many runs and cases a report has.
func (r *Report) size() (runs, cases int) {
	for range r.runs() {
		runs++
	}
	for _, s := range r.Skills {
		cases += len(s.Cases)
	}
	return runs, cases
}

// runs returns all runs of a report.
func (r *Report) runs() iter.Seq[*Run] {
	return func(yield func(*Run) bool) {
		for i := range r.Skills {
			for j := range r.Skills[i].Cases {
				for n := range r.Skills[i].Cases[j].Runs {
					if !yield(&r.Skills[i].Cases[j].Runs[n]) {
						return
					}
				}
			}
		}
	}
}

// tiles are the numbers of all skills.
func (v *view) tiles() (all []page.Tile) {
	for _, m := range v.s.Total.Measures {
		switch {
		case m.Kind == Task && m.Variant == With:
			all = append(all, shareTile("Pass rate with skill", m.PassRate))
		case m.Kind == Task && m.Variant == Without:
			all = append(all, shareTile("Without skill", m.PassRate))
			all = append(all, v.deltaTiles()...)
		case m.Kind == Trigger && m.Variant == With:
			all = append(all, shareTile("Trigger recall", m.Recall), shareTile("Trigger precision", m.Precision))
		}
	}
	return append(all, v.costTile()...)
}

// deltaTiles are the difference of tasks with and without the skill, if both were measured.
func (v *view) deltaTiles() (all []page.Tile) {
	for _, d := range v.s.Total.Deltas {
		if d.Kind == Task && d.Against == Without && d.PassRate != nil {
			all = append(all, page.Tile{
				Name: "Difference", Value: points(d.PassRate.Value),
				Note: "points, " + points(d.PassRate.Low) + " to " + points(d.PassRate.High) + ": " + d.Verdict.text(),
			})
		}
	}
	return all
}

func shareTile(name string, p *Proportion) page.Tile {
	if p == nil {
		return page.Tile{Name: name, Value: none, Note: "not measured"}
	}
	return page.Tile{Name: name, Value: percent(p.Rate), Note: fmt.Sprintf("%s, %d of %d", p.bounds(), p.Count, p.Of)}
}

// costTile is what the runs together cost, if the agent reports it.
func (v *view) costTile() []page.Tile {
	total, judges, priced := v.r.cost()
	if priced == 0 {
		return nil
	}
	note := "as " + page.Plural(int64(priced), "run") + " reported"
	if judges > 0 {
		note += ", " + dollars(judges) + " of it for judges"
	}
	return []page.Tile{{Name: "Cost", Value: dollars(total), Note: note}}
}

// cost returns what all runs and their judges cost, what the judges cost, and how many runs report a cost.
func (r *Report) cost() (total, judges float64, priced int) {
	for run := range r.runs() {
		if usd, ok := run.cost(); ok {
			total += usd
			priced++
		}
		if run.Judge != nil {
			judges += orZero(run.Judge.CostUSD)
		}
	}
	return total + judges, judges, priced
}

// problems are what a reader must know before the numbers.
func (v *view) problems() (all []string) {
	if v.r.Interrupted {
		all = append(all, "The evaluation was interrupted: runs are missing.")
	}
	errors := 0
	for run := range v.r.runs() {
		if run.Outcome == Errored {
			errors++
		}
	}
	switch {
	case errors == 1:
		all = append(all, "1 run ended with an error and measured nothing. No number includes it.")
	case errors > 1:
		all = append(all,
			textx.Thousands(int64(errors))+" runs ended with errors and measured nothing. No number includes them.")
	}
	if v.base != nil && (v.base.Agent != v.r.Agent || v.base.Model != v.r.Model) {
		all = append(all, "The baseline has another agent or model, so that differences may not come from the skill.")
	}
	return all
}

// heading names a run, and describes what it needed.
func (r *Run) heading() string {
	parts := []string{fmt.Sprintf("Run %d: %s", r.Number, r.Outcome.text())}
	parts = append(append(parts, r.parts()...), duration(r.Duration.Seconds()))
	if r.ToolCalls > 0 {
		parts = append(parts, textx.Count(r.ToolCalls, "tool call"))
	}
	if r.Denials > 0 {
		parts = append(parts, textx.Count(r.Denials, "denial"))
	}
	if len(r.Activated) > 0 {
		parts = append(parts, "activated "+page.Visible(textx.First(r.Activated, 5)))
	}
	if r.Judge != nil {
		parts = append(parts, "judge: "+strings.Join(r.Judge.parts(), ", "))
	}
	return strings.Join(parts, " · ")
}

// parts returns what is known, in words.
func (u *Usage) parts() (all []string) {
	if n, ok := u.tokens(); ok {
		all = append(all, wholeNumber(n)+" tokens")
	}
	if usd, ok := u.cost(); ok {
		all = append(all, dollars(usd))
	}
	return all
}

// outcome returns the outcome of a grade.
func (g Grade) outcome() Outcome {
	switch {
	case g.Error != "":
		return Errored
	case g.Passed:
		return Passed
	}
	return Failed
}

// ofVariant returns the runs of a case with one variant.
func (c *Case) ofVariant(v Variant) (runs []*Run) {
	for i := range c.Runs {
		if c.Runs[i].Variant == v {
			runs = append(runs, &c.Runs[i])
		}
	}
	return runs
}

// aside describes a case: the beginning of a task's prompt, what a trigger query expects of the agent, or that a case was
// not run.
func (c *Case) aside() string {
	switch {
	case len(c.Runs) == 0:
		return "not run"
	case c.Kind != Trigger:
		return page.Visible(textx.TruncateRunes(strings.Join(strings.Fields(c.Prompt), " "), mostAside))
	case !c.shouldTrigger():
		return "should not activate"
	}
	return "should activate"
}
