package report

import (
	"cmp"
	"context"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/page"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.960 generate

const skillHint = "The most used ones come first. Runs include scripts, commands, hooks, and tasks. " +
	"Found is how often a search suggested a skill. Tokens are an estimate of what the activations added to the context."

const durationHint = "The slowest ones come first. The dark part of a bar is the median, " +
	"and the whole bar is the 95th percentile. Both have an error of at most 5%. The scale is logarithmic."

// PageOptions configure [Page].
type PageOptions struct {
	Now     time.Time // when the page is written
	Damaged int64     // invalid lines of the logs
}

// Page writes a summary as one self-contained HTML page without scripts.
func (s *Summary) Page(w io.Writer, o PageOptions) error {
	return s.document(o).Render(context.Background(), w)
}

// remarks returns the end of the first sentence: what is known of the logs.
func (s *Summary) remarks(o PageOptions) string {
	var b strings.Builder
	if n := int64(len(s.machines)); n > 1 {
		b.WriteString(", on " + page.Plural(n, "machine"))
	}
	b.WriteString(".")
	if o.Damaged > 0 {
		b.WriteString(" skillpm cannot read " + page.Plural(o.Damaged, "line") + " of the audit log.")
	}
	switch {
	case s.undated == 1:
		b.WriteString(" 1 record does not have a time. The charts omit it.")
	case s.undated > 1:
		b.WriteString(" " + textx.Thousands(s.undated) +
			" records do not have a time, and the charts do not show these records.")
	}
	return b.String()
}

func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func formatDay(t time.Time) string { return t.UTC().Format("2 January 2006") }

// span returns the first and the last hour with activity.
func (s *Summary) span() (first, last time.Time) {
	if len(s.hours) == 0 {
		return time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()
	}
	hours := slices.Sorted(maps.Keys(s.hours))
	return time.Unix(hours[0]*3600, 0).UTC(), time.Unix(hours[len(hours)-1]*3600, 0).UTC()
}

func (s *Summary) totals() []page.Tile {
	return []page.Tile{
		{Name: "Activations", Value: textx.Thousands(s.total.activations)},
		{Name: "Successful runs", Value: textx.Thousands(s.total.worked)},
		{Name: "Failures", Value: textx.Thousands(s.total.failed)},
		{Name: "Denials", Value: textx.Thousands(s.total.refused)},
		{Name: "Tokens (estimate)", Value: textx.Thousands(s.tokens)},
		{Name: "Skills", Value: textx.Thousands(int64(len(s.skills)))},
		{Name: "Machines", Value: textx.Thousands(int64(len(s.machines)))},
	}
}

// succeeded returns how many runs succeeded.
func succeeded(k audit.Usage) int64 { return max(0, k.Succeeded-k.Activations) }

// lastUse returns the last use of a skill, or the zero time.
func lastUse(k audit.Usage) time.Time {
	if k.Last == nil {
		return time.Time{}
	}
	return *k.Last
}

// busiest returns the skills, and the uses of the most frequent one.
func (s *Summary) busiest() (all []audit.Usage, most int64) {
	all = s.stats.Usages()
	for _, k := range all {
		most = max(most, k.Activations+succeeded(k)+k.Failures+k.Refusals)
	}
	return all, most
}

// slowest returns the skills with runs, slowest first.
func (s *Summary) slowest() []audit.Usage {
	all := slices.DeleteFunc(s.stats.Usages(), func(k audit.Usage) bool { return k.TotalMS == 0 })
	slices.SortFunc(all, func(a, b audit.Usage) int {
		return cmp.Or(cmp.Compare(b.P95MS, a.P95MS), cmp.Compare(a.Skill, b.Skill), cmp.Compare(a.Pack, b.Pack))
	})
	return all
}

// busyMost returns the activity of the busiest machine or team.
func busyMost(all []*machine) (most int64) {
	for _, m := range all {
		most = max(most, m.activations+m.worked+m.failed+m.refused)
	}
	return most
}

// groupTitle names a row of the table of statistics: the skill with its pack, or what the records are
// grouped by.
func groupTitle(k audit.Usage) (title, detail string) {
	var parts []string
	for _, part := range []string{k.Team, k.User, k.Machine, k.Project, k.Agent, k.Skill, k.Pack, k.Version} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "none", ""
	}
	return parts[0], strings.Join(parts[1:], " · ")
}

// groupHeading is the heading of the table of statistics.
func (s *Summary) groupHeading() string {
	if s.stats.By == nil || slices.Equal(s.stats.By, []string{audit.BySkill}) {
		return "Skills"
	}
	return "By " + textx.And(s.stats.By)
}

// logarithm returns the position of a duration on a logarithmic scale.
func logarithm(ms int64) int64 { return int64(1000 * math.Log10(float64(max(0, ms))+1)) }
