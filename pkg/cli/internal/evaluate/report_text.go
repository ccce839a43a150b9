package evaluate

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// TextOptions configure [WriteText].
type TextOptions struct {
	Palette console.Palette
	Width   int  // of the terminal, in columns; 0 for no limit
	ASCII   bool // marks and signs are ASCII
	Verbose bool // also list cases without failures
}

// narrow is the width in columns below which a table becomes a list.
const narrow = 76

// indent is before the lines of a skill.
const indent = "  "

// mostReasons limits the reasons that the text shows for a case.
const mostReasons = 5

// WriteText writes a report for a terminal, compared with an earlier report, which may be nil.
func WriteText(w io.Writer, r, base *Report, o TextOptions) error {
	var b bytes.Buffer
	t := textWriter{b: &b, o: o}
	s := Summarize(r, base)
	for i := range s.Skills {
		t.skill(&r.Skills[i], s.Skills[i])
	}
	if len(s.Skills) > 1 {
		t.heading("all skills", "")
		t.results(s.Total)
	}
	t.end(r)
	text := b.String()
	if o.ASCII {
		text = strings.NewReplacer("−", "-", "–", "-").Replace(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// textWriter collects a text.
type textWriter struct {
	b *bytes.Buffer
	o TextOptions
}

func (t *textWriter) heading(name, aside string) {
	line := t.o.Palette.Bold(console.Flat(name))
	if aside != "" && aside != name {
		line += "  " + t.o.Palette.Dim(console.Flat(aside))
	}
	t.line("", line)
}

func (t *textWriter) skill(k *Skill, s SkillSummary) {
	t.heading(s.Name, k.origin())
	if len(s.Measures) == 0 {
		fmt.Fprintln(t.b, indent+"no runs")
	}
	t.results(s.Results)
	if t.cases(k) {
		fmt.Fprintln(t.b)
	}
}

// results writes the measures as tables, and the differences below them.
func (t *textWriter) results(r Results) {
	for _, kind := range []Kind{Task, Trigger} {
		measures := measuresOf(r, kind)
		if len(measures) == 0 {
			continue
		}
		if t.o.Width > 0 && t.o.Width < narrow {
			t.list(kind, measures)
		} else {
			t.table(kind, measures)
		}
		for _, d := range r.Deltas {
			if d.Kind == kind {
				t.delta(d, measures[0].Cases)
			}
		}
		fmt.Fprintln(t.b)
	}
}

func measuresOf(r Results, kind Kind) (of []Measure) {
	for _, m := range r.Measures {
		if m.Kind == kind {
			of = append(of, m)
		}
	}
	return of
}

// column is a column of the table of measures.
type column struct {
	name string
	of   func(Measure) string
}

// columns returns the columns that at least one measure needs.
func columns(kind Kind, measures []Measure) (all []column) {
	add := func(name string, of func(Measure) string, needed func(Measure) bool) {
		if needed == nil || slices.ContainsFunc(measures, needed) {
			all = append(all, column{name, of})
		}
	}
	add("runs", func(m Measure) string { return strconv.Itoa(m.Runs) }, nil)
	add("errors", func(m Measure) string { return strconv.Itoa(m.Errors) }, func(m Measure) bool { return m.Errors > 0 })
	add("pass rate", func(m Measure) string { return m.PassRate.String() }, nil)
	if kind == Trigger {
		add("precision", func(m Measure) string { return rateOf(m.Precision) }, nil)
		add("recall", func(m Measure) string { return rateOf(m.Recall) }, nil)
		return all
	}
	for _, q := range quantities() {
		add(q.short, q.mean, func(m Measure) bool { return q.of(m) != nil && q.of(m).Total > 0 })
	}
	add("denied", func(m Measure) string { return strconv.Itoa(m.Denials) }, func(m Measure) bool { return m.Denials > 0 })
	return all
}

func rateOf(p *Proportion) string {
	if p == nil {
		return none
	}
	return percent(p.Rate)
}

// table writes measures as rows.
func (t *textWriter) table(kind Kind, measures []Measure) {
	g := &console.Grid{Palette: t.o.Palette}
	if t.o.Width > 0 {
		g.Width = t.o.Width - len(indent)
	}
	all := columns(kind, measures)
	head := []console.Cell{{Text: caption(kind, measures), Role: console.Aside}}
	for _, c := range all {
		head = append(head, console.Cell{Text: c.name, Role: console.Aside})
	}
	g.Add(head...)
	for _, m := range measures {
		row := []console.Cell{{Text: string(m.Variant)}}
		for _, c := range all {
			row = append(row, console.Cell{Text: c.of(m)})
		}
		g.Add(row...)
	}
	var b bytes.Buffer
	g.Write(&b)
	for line := range strings.Lines(b.String()) {
		t.b.WriteString(indent + line)
	}
}

// caption names the kind of measures, and how many cases the first has.
func caption(kind Kind, measures []Measure) string {
	if kind == Trigger {
		return textx.CountOf(measures[0].Cases, "trigger query", "trigger queries")
	}
	return textx.Count(measures[0].Cases, "task")
}

// list writes measures below each other.
func (t *textWriter) list(kind Kind, measures []Measure) {
	fmt.Fprintln(t.b, indent+t.o.Palette.Dim(caption(kind, measures)))
	for _, m := range measures {
		fmt.Fprintln(t.b, indent+string(m.Variant))
		for _, c := range columns(kind, []Measure{m}) {
			fmt.Fprintf(t.b, "%s%s%-10s %s\n", indent, indent, c.name, c.of(m))
		}
	}
}

// delta writes how the runs with the skill differ from others.
func (t *textWriter) delta(d Delta, cases int) {
	role := map[Verdict]console.Role{Better: console.Good, Worse: console.Bad}[d.Verdict]
	text := fmt.Sprintf("with − %s: %s", d.Against, d.PassRate)
	if d.Cases < cases {
		text += fmt.Sprintf(" on %d of %s", d.Cases, textx.Count(cases, "case"))
	}
	t.line(indent, text+": "+t.o.Palette.Paint(role, d.Verdict.text()))
}

// cases writes the cases with their runs. It reports whether it wrote any.
func (t *textWriter) cases(k *Skill) (written bool) {
	for i := range k.Cases {
		c := &k.Cases[i]
		n := c.tally(With)
		if n.passed == n.runs+n.errors && !t.o.Verbose {
			continue
		}
		written = true
		role, state := console.Attention, fmt.Sprintf("%d/%d", n.passed, n.runs)
		switch {
		case n.runs+n.errors == 0:
			state = "not run"
		case n.runs == 0:
			role, state = console.Bad, "error"
		case n.passed == 0:
			role = console.Bad
		case n.passed == n.runs:
			role = console.Good
		}
		t.line(indent, fmt.Sprintf("%s %s  %s", t.o.Palette.Paint(role, fmt.Sprintf("%-7s", state)), console.Flat(c.ID),
			t.strips(c)))
		t.reasons(c)
	}
	return written
}

// strips returns a mark for each run of each variant, or a number for many runs.
func (t *textWriter) strips(c *Case) string {
	var all []string
	for _, v := range []Variant{With, Without, Previous} {
		marks, runs := "", c.ofVariant(v)
		for _, r := range runs {
			marks += t.mark(r.Outcome)
		}
		if len(runs) > mostWide {
			n := c.tally(v)
			marks = fmt.Sprintf("%d/%d", n.passed, n.runs)
		}
		if marks != "" {
			all = append(all, string(v)+" "+marks)
		}
	}
	return strings.Join(all, "  ")
}

// mark returns one character for an outcome.
func (t *textWriter) mark(o Outcome) string {
	marks := map[Outcome]string{Passed: "✓", Failed: "✗", TimedOut: "◷", Errored: "!"}
	if t.o.ASCII {
		marks = map[Outcome]string{Passed: "+", Failed: "-", TimedOut: "t", Errored: "!"}
	}
	role := map[Outcome]console.Role{Passed: console.Good, Failed: console.Bad, TimedOut: console.Bad}[o]
	if o == Errored {
		role = console.Attention
	}
	return t.o.Palette.Paint(role, marks[o])
}

// reasons writes why runs with the skill did not pass, each reason once.
func (t *textWriter) reasons(c *Case) {
	seen, more := map[string]bool{}, 0
	for i := range c.Runs {
		if r := &c.Runs[i]; r.Variant == With && r.Outcome != Passed {
			for _, reason := range c.reasons(r) {
				switch {
				case seen[reason]:
				case len(seen) == mostReasons:
					more++
				default:
					seen[reason] = true
					t.line("          ", console.Flat(textx.Truncate(reason, 300)))
				}
			}
		}
	}
	if more > 0 {
		t.line("          ", textx.Count(more, "more reason"))
	}
}

// line writes a line that is wrapped on a terminal.
func (t *textWriter) line(before, text string) {
	text = before + text
	if t.o.Width > 0 {
		text = console.WrapMessage(text, t.o.Width)
	}
	fmt.Fprintln(t.b, strings.TrimRight(text, " "))
}

// end writes what was evaluated.
func (t *textWriter) end(r *Report) {
	total, judges, _ := r.cost()
	runs, cases := r.size()
	text := fmt.Sprintf("%s of %s in %s", textx.Count(runs, "run"), textx.Count(cases, "case"),
		duration(r.Duration.Seconds()))
	if total > 0 {
		text += ", " + dollars(total)
	}
	if judges > 0 {
		text += " (" + dollars(judges) + " for judges)"
	}
	agent := strings.TrimSpace(r.Agent + " " + r.AgentVersion)
	if r.Model != "" {
		agent += " (" + r.Model + ")"
	}
	t.line("", text+", "+console.Flat(agent))
	if r.Interrupted {
		t.line("", t.o.Palette.Yellow("interrupted: runs are missing"))
	}
}
