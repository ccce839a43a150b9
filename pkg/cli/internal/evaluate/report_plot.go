package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/page"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// figure is a chart: rows of marks on one axis, in groups of one skill.
type figure struct {
	title, hint string
	axis        []string // labels at equal distances
	groups      []group
}

// group has the rows of one skill.
type group struct {
	name  string
	rows  []row
	notes []note
}

// row is a line of a chart. Positions are in percent of the axis.
type row struct {
	label, value, aside string
	class               string      // the color
	title               string      // the row in words
	line                *[2]float64 // an interval; nil for none
	dots                []float64
	beyond              int     // dots that the axis does not reach
	mark                float64 // the main mark; not a number for none
}

// note is a sentence below the rows of a skill. It begins with a verdict.
type note struct{ verdict, class, text string }

// passFigure shows the pass rates of tasks with their intervals.
func passFigure(s Summary) figure {
	f := figure{title: "Pass rate of tasks", axis: percentAxis()}
	for _, k := range s.Skills {
		g := group{name: k.Name, notes: deltaNotes(k.Results, Task)}
		for _, m := range measuresOf(k.Results, Task) {
			g.rows = append(g.rows, shareRow(m.Variant, m.Variant.text(), "of runs passed", m.PassRate))
		}
		f.add(g)
	}
	return f
}

// triggerFigure shows whether the right prompts activate the skill.
func triggerFigure(s Summary) figure {
	f := figure{title: "Precision and recall of activation", hint: triggerHint, axis: percentAxis()}
	for _, k := range s.Skills {
		g := group{name: k.Name, notes: deltaNotes(k.Results, Trigger)}
		for _, m := range measuresOf(k.Results, Trigger) {
			g.rows = append(g.rows,
				shareRow(m.Variant, "recall, "+m.Variant.text(), "of prompts that should activate the skill did", m.Recall),
				shareRow(m.Variant, "precision, "+m.Variant.text(), "of activations were right", m.Precision))
		}
		f.add(g)
	}
	return f
}

// add adds a group, unless it is empty.
func (f *figure) add(g group) {
	if len(g.rows) > 0 {
		f.groups = append(f.groups, g)
	}
}

func percentAxis() []string { return []string{"0%", "25%", "50%", "75%", "100%"} }

// shareRow shows a share and its interval.
func shareRow(v Variant, label, what string, p *Proportion) row {
	r := row{label: label, class: string(v), value: none, mark: math.NaN(), title: label + ": not measured"}
	if p != nil {
		r.value, r.aside = percent(p.Rate), p.bounds()
		r.mark, r.line = 100*p.Rate, &[2]float64{100 * p.Low, 100 * p.High}
		r.title = fmt.Sprintf("%s: %s %s, %d of %d; 95%% interval %s", label, percent(p.Rate), what, p.Count, p.Of, r.aside)
	}
	return r
}

// deltaNotes describes the differences of the pass rates of a kind of cases.
func deltaNotes(r Results, kind Kind) (notes []note) {
	with := 0
	for _, m := range measuresOf(r, kind) {
		if m.Variant == With {
			with = m.Cases
		}
	}
	for _, d := range r.Deltas {
		if d.Kind != kind || d.PassRate == nil {
			continue
		}
		text := ": " + d.PassRate.String()
		if kind == Trigger {
			text += " of right decisions"
		}
		if d.Cases < with {
			text += fmt.Sprintf(", on %d of %s", d.Cases, textx.Count(with, "case"))
		}
		notes = append(notes, note{d.Verdict.against(d.Against), string(d.Verdict), text})
	}
	return notes
}

// mostDots limits the dots of a row.
const mostDots = 300

// quantityFigures show what runs of tasks needed, a chart for each number that is known.
func quantityFigures(r, base *Report, s Summary) (all []figure) {
	for _, q := range quantities() {
		f := figure{title: q.name + " per run of a task"}
		values := map[string][]float64{}
		var every []float64
		for i := range r.Skills {
			for _, o := range observations(i, r, base) {
				if v, ok := q.value(o.run); ok && o.measured() && o.kind == Task {
					key := fmt.Sprint(i, o.variant)
					values[key] = append(values[key], v)
					every = append(every, v)
				}
			}
			g := group{name: r.Skills[i].Name}
			for _, m := range measuresOf(s.Skills[i].Results, Task) {
				if a := q.of(m); a != nil {
					g.rows = append(g.rows, row{
						label: m.Variant.text(), class: string(m.Variant), value: q.format(a.Mean),
						aside: "median " + q.format(a.Median), mark: a.Median,
						dots: values[fmt.Sprint(i, m.Variant)],
						title: fmt.Sprintf("%s: mean %s, median %s of %s", m.Variant.text(), q.format(a.Mean),
							q.format(a.Median), textx.Count(a.Runs, "run")),
					})
				}
			}
			f.add(g)
		}
		if len(f.groups) > 0 && slices.Max(every) > 0 { // a command does not report tool calls
			f.scale(q, every)
			all = append(all, f)
		}
	}
	return all
}

// scale sets the axis of a chart so that it shows the values, and converts the values to positions. Few large values do
// not squeeze the others: they are at the end of the axis.
func (f *figure) scale(q quantity, every []float64) {
	slices.Sort(every)
	most := every[len(every)-1]
	if common := every[(len(every)-1)*9/10]; most > 3*common && common > 0 {
		most = 2 * common
	}
	top := roundUp(most)
	f.axis = []string{"0", q.format(top / 2), q.format(top)}
	for _, g := range f.groups {
		for i := range g.rows {
			r := &g.rows[i]
			r.mark = min(100, 100*r.mark/top)
			inside := r.dots[:0]
			for _, v := range r.dots {
				if v > top {
					r.beyond++
				} else {
					inside = append(inside, 100*v/top)
				}
			}
			r.dots = inside[:min(len(inside), mostDots)]
			if r.beyond > 0 {
				r.title += fmt.Sprintf("; %s more than %s", textx.Count(r.beyond, "run"), q.format(top))
			}
		}
	}
}

// roundUp returns a round number that is at least f.
func roundUp(f float64) float64 {
	if f <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(f)))
	for _, step := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10} {
		if step*unit >= f {
			return step * unit
		}
	}
	return 10 * unit
}

// ticks returns the grid lines of a chart as a path.
func (f figure) ticks() string {
	var b strings.Builder
	for i := range f.axis {
		fmt.Fprintf(&b, "M%s 0V10", page.Coordinate(100*float64(i)/float64(len(f.axis)-1)))
	}
	return b.String()
}

// points returns dots as a path. A zero-length line with round ends is a dot.
func (r row) points() string {
	var b strings.Builder
	for i, x := range r.dots {
		// Dots of similar runs do not hide each other.
		fmt.Fprintf(&b, "M%s %dh0", page.Coordinate(x), 3+i%3*2)
	}
	return b.String()
}

// strip shows the outcomes of the runs of a case with one variant, a mark for each.
type strip struct {
	label, title string
	count        string // such as "3/4"; "" without runs
	marks        map[Outcome]string
	width        int
	height       int
}

// Sizes of a strip.
const (
	markSize  = 14 // pixels
	mostWide  = 10 // marks in a line
	mostMarks = 100
)

// variants returns the variants with runs, and the width of their strips.
func (s *Skill) variants() (all []Variant, width int) {
	most := 0
	for _, v := range []Variant{With, Without, Previous} {
		n := 0
		for i := range s.Cases {
			n = max(n, len(s.Cases[i].ofVariant(v)))
		}
		if n > 0 {
			all = append(all, v)
		}
		most = max(most, n)
	}
	return all, markSize * min(most, mostWide)
}

// strip returns the strip of a variant.
func (c *Case) strip(v Variant, width int) strip {
	t, runs := c.tally(v), c.ofVariant(v)
	s := strip{label: v.text(), title: v.text() + ": " + t.String(), marks: map[Outcome]string{}, width: width}
	switch {
	case t.runs > 0:
		s.count = fmt.Sprintf("%d/%d", t.passed, t.runs)
	case t.errors > 0:
		s.count = none
	}
	runs = runs[:min(len(runs), mostMarks)]
	for n, r := range runs {
		s.marks[r.Outcome] += r.Outcome.mark(n%mostWide, n/mostWide)
	}
	s.height = markSize * ((len(runs) + mostWide - 1) / mostWide)
	return s
}

// outcomes are the outcomes in the order of a legend.
func outcomes() []Outcome { return []Outcome{Passed, Failed, TimedOut, Errored} }

// mark returns the shape of an outcome as a path, in a column and a line of squares.
func (o Outcome) mark(column, line int) string {
	shape := map[Outcome]struct {
		x, y float64
		path string // from x and y
	}{
		Passed:   {2.5, 7.5, "l3 3 6-7"},
		Failed:   {3.5, 3.5, "l7 7m0-7l-7 7"},
		TimedOut: {7, 2, "a5 5 0 1 1-.01 0m0 2.5v3h2"},
		Errored:  {7, 2.5, "v5.5m0 3v.1"},
	}[o]
	return fmt.Sprintf("M%g %g%s", shape.x+float64(markSize*column), shape.y+float64(markSize*line), shape.path)
}

// text names an outcome.
func (o Outcome) text() string {
	return cmp.Or(map[Outcome]string{Errored: "not measured", TimedOut: "timed out"}[o], string(o))
}
