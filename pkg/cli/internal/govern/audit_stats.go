package govern

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	records "github.com/skillpm/skillpm/pkg/cli/internal/report"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// statsDocument is the output of "audit stats --json".
type statsDocument struct {
	Since   *time.Time         `json:"since,omitempty"`
	Records int64              `json:"records"` // number of records in the log
	Damaged int64              `json:"damaged"` // invalid lines
	Others  int64              `json:"others"`  // records of skills beyond the maximum that is counted separately
	Skills  []audit.SkillStats `json:"skills"`
}

// pageDocument is the output of "audit stats --html --json".
type pageDocument struct {
	Page    string `json:"page"`
	Records int64  `json:"records"` // number of records in the summary
	Damaged int64  `json:"damaged"`
}

func newAuditStats(a *app) *cobra.Command {
	var selected selection
	var page string
	cmd := &cobra.Command{
		Use:   "stats [LOG...]",
		Short: "Say how often skills were used, how long, and how well",
		Long: `Sum up the record for each skill, the busiest first: how often it was activated, or
handed to a runner; how often its scripts, commands and hooks ran, and its tasks
ended; how many of these failed; how often it, or a call of a tool while it was
active, was refused; how long its runs took, all together, on average, 95 of a
hundred, and at most; and when it was used last. A skill of a pack is another than
one of the same name elsewhere.

--html writes a page with charts: what was done over time, each skill, durations,
why things were refused and failed, and machines. It is one file that needs no other.

On a terminal that is too narrow for all columns, how long runs took is left out.
Lines of the record that cannot be read are passed over, and a warning says how many
there are.`,
		Example: `  skillpm audit stats
  skillpm audit stats --since 30d
  skillpm audit stats --skill deploy --json
  skillpm audit stats --html skills.html`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := selected.read(a)
			if err != nil {
				return err
			}
			logs, err := a.logs(args)
			if err != nil {
				return err
			}
			s := audit.Stream{Paths: logs, Filter: filter}
			if page != "" {
				return a.statsPage(cmd, &s, page)
			}
			stats := audit.Stats{Since: filter.Since, Skill: filter.Skill}
			add := func(r audit.Record) (bool, error) { stats.Add(r); return true, nil }
			if err := a.stream(cmd.Context(), &s, add); err != nil {
				return err
			}
			return a.printStats(&stats, s.Read())
		},
	}
	selected.addTo(a, cmd)
	cmd.Flags().StringVar(&page, "html", "", "write a page with charts to `FILE`, and print no table")
	return cmd
}

// statsPage writes the page.
func (a *app) statsPage(cmd *cobra.Command, s *audit.Stream, file string) error {
	sum := records.NewSummary()
	add := func(r audit.Record) (bool, error) { sum.Add(r); return true, nil }
	if err := a.stream(cmd.Context(), s, add); err != nil {
		return err
	}
	o := records.PageOptions{Now: a.Now(), Damaged: s.Read().Damaged}
	write := func(w io.Writer) error { return sum.Page(w, o) }
	if err := atomicfile.Stream(a.Abs(file), atomicfile.Options{}, write); err != nil || !a.JSON {
		return err
	}
	return a.PrintJSON(pageDocument{Page: a.Abs(file), Records: sum.Records, Damaged: o.Damaged})
}

func (a *app) printStats(s *audit.Stats, read audit.Read) error {
	if s.Others > 0 {
		a.Warn("%s of further skills are left out", textx.Count(int(s.Others), "record"))
	}
	skills := s.Skills()
	switch {
	case a.JSON:
		d := statsDocument{Records: read.Records, Damaged: read.Damaged, Others: s.Others, Skills: skills}
		if !s.Since.IsZero() {
			d.Since = &s.Since
		}
		return a.PrintJSON(d)
	case len(skills) == 0 && s.Skill == "" && s.Since.IsZero():
		a.Note("no skill has been used")
		return nil
	case len(skills) == 0:
		a.Note("no such skill has been used since then; skillpm audit stats shows all")
		return nil
	}
	rows := [][]string{{
		"SKILL", "PACK", "ACTIVATED", "RUNS", "FAILED", "REFUSED", "TOTAL", "MEAN", "P95", "MOST",
		"LAST USE",
	}}
	for _, k := range skills {
		row := []string{k.Skill, cmp.Or(k.Pack, "-")}
		for _, n := range []int64{k.Activations, k.Runs, k.Failures, k.Refusals} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		for _, ms := range []int64{k.TotalMS, k.MeanMS, k.P95MS, k.MaxMS} {
			row = append(row, durationText(k.Runs, ms))
		}
		last := "-"
		if k.Last != nil {
			last = console.Span(a.Now().Sub(*k.Last)) + " ago"
		}
		rows = append(rows, append(row, last))
	}
	return console.Table(a.Stdout, dropColumns(rows, console.TerminalWidth(a.Stdout), "TOTAL", "MEAN", "P95", "MOST",
		"PACK", "LAST USE"))
}

// dropColumns removes columns from a table until it fits the terminal, in the order of names. It removes none if the
// width is unknown.
func dropColumns(rows [][]string, width int, columns ...string) [][]string {
	for _, name := range columns {
		if width == 0 || tableWidth(rows) <= width {
			return rows
		}
		i := slices.Index(rows[0], name)
		out := make([][]string, len(rows))
		for n, row := range rows {
			out[n] = slices.Delete(slices.Clone(row), i, i+1)
		}
		rows = out
	}
	return rows
}

// tableWidth returns the width of a table in columns of a terminal.
func tableWidth(rows [][]string) (width int) {
	for i := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, console.Cells([]rune(console.Printable(row[i]))))
		}
		width += widest + 2
	}
	return width - 2
}

// durationText formats a duration in seconds, minutes, and hours.
func durationText(runs, ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case runs == 0:
		return "-"
	case d < time.Minute:
		return fmt.Sprintf("%.2fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
