package govern

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	records "github.com/skillpm/skillpm/pkg/cli/internal/report"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// statsDocument is the output of "log stats --json".
type statsDocument struct {
	Since   *time.Time    `json:"since,omitempty"`
	Records int64         `json:"records"` // number of records in the log
	Damaged int64         `json:"damaged"` // number of unreadable lines
	Others  int64         `json:"others"`  // records that were skipped, because the log has too many groups
	By      []string      `json:"by"`      // fields by which the records are grouped
	Groups  []audit.Usage `json:"groups"`  // statistics of each group, the most used one first
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
	by := []string{audit.BySkill}
	cmd := &cobra.Command{
		Use:   "stats [LOG...]",
		Short: "Show usage statistics of skills",
		Long: `The table has a row for each skill, the most used first, with the number of activations,
runs, failures, and denials, and how many activations and runs succeeded. TOKENS is an
estimate, from the text, of what the activations added to the context. The other columns
are the duration of the runs (total, mean, 95th percentile, and maximum), and the last use.
Skills with the same name in different packs have separate rows.

--by prints a row for each team, user, machine, project, agent, pack, skill, or version, or
for each combination. The team is audit.team in a policy. LOG is the log of another
machine, which "skillpm log export --format ndjson" wrote there, or a directory of such
logs (*.jsonl).

--html writes one self-contained page with charts: use over time, skills, durations,
reasons for failures and denials, teams, and machines.

A narrow terminal does not show all columns. skillpm skips unreadable records, and
prints a warning.`,
		Example: `  skillpm log stats
  skillpm log stats --since 30d
  skillpm log stats --by team,skill,version
  skillpm log stats --skill deploy --json
  skillpm log stats --html skills.html`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := selected.read(a)
			if err != nil {
				return err
			}
			if err := checkFields(by); err != nil {
				return err
			}
			logs, err := a.logs(args)
			if err != nil {
				return err
			}
			s := audit.Stream{Paths: logs, Filter: filter, Unordered: true}
			stats := audit.Stats{By: by, Since: filter.Since, Skill: filter.Skill}
			if page != "" {
				return a.statsPage(cmd, &s, stats, page)
			}
			add := func(r audit.Record) (bool, error) { stats.Add(r); return true, nil }
			if err := a.ReadLogs(cmd.Context(), &s, add); err != nil {
				return err
			}
			return a.printStats(&stats, s.Read())
		},
	}
	selected.addTo(a, cmd)
	cmd.Flags().StringSliceVar(&by, "by", by, "group by `FIELD`, or by several fields separated by commas; repeatable")
	cmd.Flags().StringVar(&page, "html", "", "write a page with charts to `FILE` instead of a table")
	a.CompleteFlag(cmd, "by", cobra.FixedCompletions(audit.Fields(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// checkFields rejects unknown fields of --by.
func checkFields(by []string) error {
	for _, field := range by {
		if !slices.Contains(audit.Fields(), field) {
			return diag.Errorf(diag.Usage, "unknown --by %q", field).WithHint("use %s", textx.OneOf(audit.Fields()))
		}
	}
	return nil
}

// statsPage writes the page.
func (a *app) statsPage(cmd *cobra.Command, s *audit.Stream, stats audit.Stats, file string) error {
	sum := records.NewSummary(stats)
	add := func(r audit.Record) (bool, error) { sum.Add(r); return true, nil }
	if err := a.ReadLogs(cmd.Context(), s, add); err != nil {
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
		a.Warn("skipped %s, because the log contains too many different values of %s; select fewer records",
			textx.Count(int(s.Others), "record"), strings.Join(s.By, ", "))
	}
	groups := s.Usages()
	if !a.JSON { // skills that were only found are those of "skills --unused"
		groups = slices.DeleteFunc(groups, func(u audit.Usage) bool { return !u.IsUsed() })
	}
	switch {
	case a.JSON:
		d := statsDocument{Records: read.Records, Damaged: read.Damaged, Others: s.Others, By: s.By, Groups: groups}
		if !s.Since.IsZero() {
			d.Since = &s.Since
		}
		return a.PrintJSON(d)
	case len(groups) == 0 && s.Skill == "" && s.Since.IsZero():
		a.Note("No skills used yet.")
		return nil
	case len(groups) == 0:
		a.Note("No matching records. Show all statistics with: skillpm log stats")
		return nil
	}
	columns := groupColumns(s.By)
	rows := [][]string{{
		"ACTIVATED", "RUNS", "FAILED", "DENIED", "SUCCESS", "TOKENS", "TOTAL", "MEAN", "P95", "MAX",
		"LAST USE",
	}}
	for _, k := range groups {
		var row []string
		for _, n := range []int64{k.Activations, k.Runs, k.Failures, k.Refusals} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		row = append(row, successText(k), strconv.FormatInt(k.Tokens, 10))
		for _, ms := range []int64{k.TotalMS, k.MeanMS, k.P95MS, k.MaxMS} {
			row = append(row, durationText(k.Runs, ms))
		}
		last := "-"
		if k.Last != nil {
			last = console.Span(a.Now().Sub(*k.Last)) + " ago"
		}
		rows = append(rows, append(row, last))
	}
	for i := range rows {
		var names []string
		for _, c := range columns {
			if i == 0 {
				names = append(names, c.title)
			} else {
				names = append(names, cmp.Or(c.value(groups[i-1]), "-"))
			}
		}
		rows[i] = append(names, rows[i]...)
	}
	return console.Table(a.Stdout, dropColumns(rows, console.TerminalWidth(a.Stdout), "TOTAL", "MEAN", "P95", "MAX",
		"PACK", "LAST USE", "TOKENS", "SUCCESS"))
}

// groupColumn is a column with a field by which records are grouped.
type groupColumn struct {
	title string
	value func(audit.Usage) string
}

// groupColumns returns the columns of fields, each once. A skill also has a pack, and a version also has a skill.
func groupColumns(by []string) (columns []groupColumn) {
	add := func(title string, value func(audit.Usage) string) {
		if !slices.ContainsFunc(columns, func(c groupColumn) bool { return c.title == title }) {
			columns = append(columns, groupColumn{title, value})
		}
	}
	for _, field := range by {
		switch field {
		case audit.ByTeam:
			add("TEAM", func(u audit.Usage) string { return u.Team })
		case audit.ByUser:
			add("USER", func(u audit.Usage) string { return u.User })
		case audit.ByMachine:
			add("MACHINE", func(u audit.Usage) string { return u.Machine })
		case audit.ByProject:
			add("PROJECT", func(u audit.Usage) string { return u.Project })
		case audit.ByAgent:
			add("AGENT", func(u audit.Usage) string { return u.Agent })
		case audit.BySkill, audit.ByVersion:
			add("SKILL", func(u audit.Usage) string { return u.Skill })
		}
		switch field {
		case audit.BySkill, audit.ByPack, audit.ByVersion:
			add("PACK", func(u audit.Usage) string { return u.Pack })
		}
		if field == audit.ByVersion {
			add("VERSION", func(u audit.Usage) string { return u.Version })
		}
	}
	return columns
}

// successText formats the share of activations and runs that succeeded.
func successText(u audit.Usage) string {
	if u.Succeeded+u.Failures == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", 100*u.Succeeded/(u.Succeeded+u.Failures))
}

// dropColumns removes columns from a table until it fits the terminal, in the order of names. It removes none if the
// width is unknown.
func dropColumns(rows [][]string, width int, columns ...string) [][]string {
	for _, name := range columns {
		if width == 0 || tableWidth(rows) <= width {
			return rows
		}
		i := slices.Index(rows[0], name)
		if i < 0 {
			continue
		}
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
