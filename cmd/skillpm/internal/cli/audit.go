package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/audit"
)

func newAudit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "audit",
		Short:   "Look at the record of what was done with skills",
		GroupID: "govern",
		Long: `What is done with skills goes on record, in audit/audit.jsonl of the state
directory: activations, scripts, hooks, tasks, refusals.`,
		Example: "  skillpm audit stats\n  skillpm audit stats --since 30d --json",
		RunE:    unknownCommand,
		Args:    cobra.ArbitraryArgs,
	}
	for _, c := range []*cobra.Command{newAuditStats(a)} {
		c.Args = usageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// statsDocument is what `audit stats --json` prints.
type statsDocument struct {
	Since   *time.Time         `json:"since,omitempty"`
	Records int64              `json:"records"` // of the whole log
	Damaged int64              `json:"damaged"` // lines that are none
	Others  int64              `json:"others"`  // records of skills beyond the most that are told apart
	Skills  []audit.SkillStats `json:"skills"`
}

func newAuditStats(a *app) *cobra.Command {
	var since string
	var stats audit.Stats
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Say how often skills were used, how long, and how well",
		Long: `Sum up the record for each skill, the busiest first: how often it was activated, or
handed to a runner; how often its scripts, commands and hooks ran, and its tasks
ended; how many of these failed; how often it, or a call of a tool while it was
active, was refused; how long its runs took, all together, on average and at most;
and when it was used last. A skill of a pack is another than one of the same name
elsewhere.

Lines of the record that cannot be read are passed over, and a warning says how
many there are.`,
		Example: `  skillpm audit stats
  skillpm audit stats --since 30d
  skillpm audit stats --skill deploy --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if since != "" {
				age, err := parseAge("since", since)
				if err != nil {
					return err
				}
				stats.Since = a.Now().Add(-age).UTC()
			}
			read, err := a.sumUp(cmd.Context(), &stats)
			if err != nil {
				return err
			}
			return a.printStats(&stats, read)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only what was done in the last `TIME`, as 30d, 2w or 36h")
	cmd.Flags().StringVar(&stats.Skill, "skill", "", "only the skill `NAME`")
	a.completeFlag(cmd, "since", cobra.NoFileCompletions)
	a.completeFlag(cmd, "skill", a.completeRecorded)
	return cmd
}

// sumUp reads the user's log.
func (a *app) sumUp(ctx context.Context, s *audit.Stats) (audit.Read, error) {
	_, paths, err := a.places()
	if err != nil {
		return audit.Read{}, err
	}
	return audit.ReadFile(ctx, filepath.Join(paths.State, "audit", audit.Name), func(r audit.Record) error {
		s.Add(r)
		return nil
	})
}

// completeRecorded completes the names of skills that are on record, the busiest first.
func (a *app) completeRecorded(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var s audit.Stats
	var names []string
	if _, err := a.sumUp(cmd.Context(), &s); err == nil {
		for _, k := range s.Skills() {
			if !slices.Contains(names, k.Skill) {
				names = append(names, k.Skill)
			}
		}
	}
	return matching(names, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func (a *app) printStats(s *audit.Stats, read audit.Read) error {
	if read.Damaged > 0 {
		a.warn("%s of the audit log cannot be read", plural(int(read.Damaged), "line"))
	}
	if s.Others > 0 {
		a.warn("%s of further skills are left out", plural(int(s.Others), "record"))
	}
	skills := s.Skills()
	switch {
	case a.json:
		d := statsDocument{Records: read.Records, Damaged: read.Damaged, Others: s.Others, Skills: skills}
		if !s.Since.IsZero() {
			d.Since = &s.Since
		}
		return a.printJSON(d)
	case len(skills) == 0 && s.Skill == "" && s.Since.IsZero():
		a.note("no skill has been used")
		return nil
	case len(skills) == 0:
		a.note("no such skill has been used since then; skillpm audit stats shows all")
		return nil
	}
	rows := [][]string{{"SKILL", "PACK", "ACTIVATED", "RUNS", "FAILED", "REFUSED", "TOTAL", "MEAN", "MOST", "LAST USE"}}
	for _, k := range skills {
		row := []string{k.Skill, cmp.Or(k.Pack, "-")}
		for _, n := range []int64{k.Activations, k.Runs, k.Failures, k.Refusals} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		for _, ms := range []int64{k.TotalMS, k.MeanMS, k.MaxMS} {
			row = append(row, took(k.Runs, ms))
		}
		last := "-"
		if k.Last != nil {
			last = span(a.Now().Sub(*k.Last)) + " ago"
		}
		rows = append(rows, append(row, last))
	}
	return table(a.Stdout, rows)
}

// took writes how long runs took: in seconds, minutes and hours.
func took(runs, ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case runs == 0:
		return "-"
	case d < time.Minute:
		return fmt.Sprintf("%.2fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
