package evaluate

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// TextOptions configure [WriteText].
type TextOptions struct {
	Palette console.Palette
	ASCII   bool // marks are ASCII
	Verbose bool // also list cases without failures
}

// narrow is the width in columns below which a table becomes a list.
const narrow = 76

// mostReasons limits the reasons that the text shows for a case.
const mostReasons = 5

// WriteText writes a report for a terminal, compared with an earlier report, which may be nil.
func WriteText(w io.Writer, r, base *Report, o TextOptions) error {
	var b bytes.Buffer
	t := textWriter{b: &b, out: w, width: console.TerminalWidth(w), o: o}
	s := Summarize(r, base)
	for i := range s.Skills {
		t.skill(&r.Skills[i], s.Skills[i])
	}
	if len(s.Skills) > 1 {
		t.heading("all skills", "")
		t.results(s.Total)
		fmt.Fprintln(&b)
	}
	t.end(r)
	_, err := w.Write(b.Bytes())
	return err
}

// textWriter collects a text.
type textWriter struct {
	b     *bytes.Buffer
	out   io.Writer // the stream that the text is for
	width int       // of the terminal; 0 for no limit
	o     TextOptions
}

func (t *textWriter) heading(name, aside string) {
	line := t.o.Palette.Bold(console.Flat(name))
	if aside != "" && aside != name {
		line += "  " + t.o.Palette.Dim(console.Flat(aside))
	}
	fmt.Fprintln(t.b, line)
}

func (t *textWriter) skill(k *Skill, s SkillSummary) {
	t.heading(s.Name, s.Dir)
	if len(s.Measures) == 0 {
		fmt.Fprintln(t.b, "  no runs")
	}
	t.results(s.Results)
	t.cases(k)
	fmt.Fprintln(t.b)
}

// results writes the measures as a table, and the differences below it.
func (t *textWriter) results(r Results) {
	for _, kind := range []Kind{Task, Trigger} {
		measures := measuresOf(r, kind)
		if len(measures) == 0 {
			continue
		}
		if t.width > 0 && t.width < narrow {
			t.list(kind, measures)
		} else {
			t.table(kind, measures)
		}
		for _, d := range r.Deltas {
			if d.Kind == kind {
				t.delta(d, measures[0].Cases)
			}
		}
		for _, m := range measures {
			t.remarks(m)
		}
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

// columns returns the columns that at least one measure has.
func columns(kind Kind, measures []Measure) []column {
	all := []column{
		{"Cases", func(m Measure) string { return fmt.Sprint(m.Cases) }},
		{"Runs", func(m Measure) string { return fmt.Sprint(m.Runs) }},
		{"Pass rate", func(m Measure) string { return m.PassRate.String() }},
	}
	if kind == Trigger {
		all = append(all, column{"Precision", func(m Measure) string { return rateOf(m.Precision) }},
			column{"Recall", func(m Measure) string { return rateOf(m.Recall) }})
	}
	for _, q := range quantities() {
		for _, m := range measures {
			if q.of(m) != nil {
				all = append(all, column{q.name, q.mean})
				break
			}
		}
	}
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
	g := console.NewGrid(t.out, t.o.Palette)
	all := columns(kind, measures)
	head := []console.Cell{{Text: ""}, {Text: kind.text(), Role: console.Aside}}
	for _, c := range all {
		head = append(head, console.Cell{Text: strings.ToLower(c.name), Role: console.Aside})
	}
	g.Add(head...)
	for _, m := range measures {
		row := []console.Cell{{Text: ""}, {Text: m.Variant.text()}}
		for _, c := range all {
			row = append(row, console.Cell{Text: c.of(m)})
		}
		g.Add(row...)
	}
	var b bytes.Buffer
	g.Write(&b)
	t.indent(b.String())
}

// list writes measures below each other.
func (t *textWriter) list(kind Kind, measures []Measure) {
	for _, m := range measures {
		fmt.Fprintf(t.b, "  %s %s\n", t.o.Palette.Dim(kind.text()), m.Variant.text())
		for _, c := range columns(kind, []Measure{m}) {
			fmt.Fprintf(t.b, "    %-11s %s\n", strings.ToLower(c.name), c.of(m))
		}
	}
}

func (t *textWriter) indent(text string) {
	for line := range strings.Lines(text) {
		t.b.WriteString("  " + line)
	}
}

// delta writes how the runs with the skill differ from others.
func (t *textWriter) delta(d Delta, cases int) {
	role := map[Verdict]console.Role{Better: console.Good, Worse: console.Bad}[d.Verdict]
	text := fmt.Sprintf("with − %s: %s", d.Against, d.PassRate)
	if d.Cases < cases {
		text += fmt.Sprintf(" on %d of %s", d.Cases, textx.Count(cases, "case"))
	}
	t.line("  ", text+": "+t.o.Palette.Paint(role, d.Verdict.text()))
}

// remarks writes what needs attention.
func (t *textWriter) remarks(m Measure) {
	if m.Errors > 0 {
		t.line("  ", t.o.Palette.Yellow(fmt.Sprintf("%s: %s failed to run and do not count", m.Variant.text(),
			textx.Count(m.Errors, "run"))))
	}
	if m.Denials > 0 {
		t.line("  ", fmt.Sprintf("%s: %s denied", m.Variant.text(), textx.Count(m.Denials, "tool call")))
	}
}

// cases writes the cases with their runs.
func (t *textWriter) cases(k *Skill) {
	for i := range k.Cases {
		c := &k.Cases[i]
		n := c.tally(With)
		if n.passed == n.runs+n.errors && !t.o.Verbose {
			continue
		}
		role, state := console.Bad, "FAILED"
		switch {
		case n.runs+n.errors == 0:
			role, state = console.Attention, "not run"
		case n.runs == 0:
			role, state = console.Bad, "error"
		case n.passed == n.runs:
			role, state = console.Good, "ok"
		}
		t.line("  ", fmt.Sprintf("%s %s  %s", t.o.Palette.Paint(role, fmt.Sprintf("%-7s", state)), console.Flat(c.ID),
			t.strips(c)))
		t.reasons(c)
	}
}

// strips returns a mark for each run of each variant.
func (t *textWriter) strips(c *Case) string {
	var all []string
	for _, v := range []Variant{With, Without, Previous} {
		marks := ""
		for i := range c.Runs {
			if r := &c.Runs[i]; r.Variant == v {
				marks += t.mark(r.Outcome)
			}
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
func (t *textWriter) line(indent, text string) {
	text = indent + text
	if t.width > 0 {
		text = console.WrapMessage(text, t.width)
	}
	fmt.Fprintln(t.b, text)
}

// end writes what was evaluated.
func (t *textWriter) end(r *Report) {
	runs, cases := 0, 0
	total := 0.0
	for i := range r.Skills {
		cases += len(r.Skills[i].Cases)
		for j := range r.Skills[i].Cases {
			for n := range r.Skills[i].Cases[j].Runs {
				c, _ := cost(&r.Skills[i].Cases[j].Runs[n])
				total += c
				runs++
			}
		}
	}
	text := fmt.Sprintf("%s of %s in %s", textx.Count(runs, "run"), textx.Count(cases, "case"), duration(r.Duration.Seconds()))
	if total > 0 {
		text += ", " + dollars(total)
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
