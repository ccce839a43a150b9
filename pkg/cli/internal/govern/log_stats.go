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

// statsDocument is the output of "log stats --json".
type statsDocument struct {
	Since   *time.Time         `json:"since,omitempty"`
	Records int64              `json:"records"` // number of records in the log
	Damaged int64              `json:"damaged"` // number of unreadable lines
	Others  int64              `json:"others"`  // records that were skipped, because the log names too many skills
	Skills  []audit.SkillStats `json:"skills"`
}

// pageDocument is the output of "log stats --html --json".
type pageDocument struct {
	Page    string `json:"page"`
	Records int64  `json:"records"` // number of records in the summary
	Damaged int64  `json:"damaged"`
}

func newLogStats(a *app) *cobra.Command {
	var selected selection
	var page string
	cmd := &cobra.Command{
		Use:   "stats [LOG...]",
		Short: "Show usage statistics of skills",
		Long: `The table has a row for each skill, the most used first, with the number of activations,
runs, failures, and denials. It also has the duration of the runs (total, mean, 95th
percentile, and maximum), and the last use. Skills with the same name in different packs
have separate rows.

--html writes one self-contained page with charts: use over time, skills, durations,
reasons for failures and denials, and machines.

A narrow terminal does not show all columns. skillpm skips unreadable records, and
prints a warning.`,
		Example: `  skillpm log stats
  skillpm log stats --since 30d
  skillpm log stats --skill deploy --json
  skillpm log stats --html skills.html`,
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
	cmd.Flags().StringVar(&page, "html", "", "write a page with charts to `FILE` instead of a table")
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
		a.Warn("skipped %s, because the log contains too many different skills", textx.Count(int(s.Others), "record"))
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
		a.Note("No skills used yet.")
		return nil
	case len(skills) == 0:
		a.Note("No matching records. Show all statistics with: skillpm log stats")
		return nil
	}
	rows := [][]string{{
		"SKILL", "PACK", "ACTIVATED", "RUNS", "FAILED", "DENIED", "TOTAL", "MEAN", "P95", "MAX",
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
	return console.Table(a.Stdout, dropColumns(rows, console.TerminalWidth(a.Stdout), "TOTAL", "MEAN", "P95", "MAX",
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
