package report

import (
	"cmp"
	"context"
	_ "embed" // the style of the page
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.960 generate

//go:embed page.css
var style string

// maxRows limits the rows of a table.
const maxRows = 100

const skillHint = "The most used ones come first. Runs include scripts, commands, hooks, and tasks. " +
	"Found is how often a search suggested a skill. Tokens are an estimate of what the activations added to the context."

const durationHint = "The slowest ones come first. The dark part of a bar is the median, " +
	"and the whole bar is the 95th percentile. Both have an error of at most 5 %. The scale is logarithmic."

// PageOptions configure [Page].
type PageOptions struct {
	Now     time.Time // when the page is written
	Damaged int64     // invalid lines of the logs
}

// Page writes a summary as one self-contained HTML page without scripts.
func (s *Summary) Page(w io.Writer, o PageOptions) error {
	return s.page(o).Render(context.Background(), w)
}

// remarks returns the end of the first sentence: what is known of the logs.
func (s *Summary) remarks(o PageOptions) string {
	var b strings.Builder
	if n := int64(len(s.machines)); n > 1 {
		b.WriteString(", on " + plural(n, "machine"))
	}
	b.WriteString(".")
	if o.Damaged > 0 {
		b.WriteString(" skillpm cannot read " + plural(o.Damaged, "line") + " of the audit log.")
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

// total is one of the numbers at the top of the page.
type total struct {
	name string
	n    int64
}

func (s *Summary) totals() []total {
	return []total{
		{"Activations", s.total.activations},
		{"Successful runs", s.total.worked},
		{"Failures", s.total.failed},
		{"Denials", s.total.refused},
		{"Tokens (estimate)", s.tokens},
		{"Skills", int64(len(s.skills))},
		{"Machines", int64(len(s.machines))},
	}
}

// part is a part of a bar.
type part struct {
	class string
	n     int64
}

// rect is a rectangle of a chart.
type rect struct {
	class, title        string
	x, y, width, height float64
}

// meterRects returns the parts of a bar, scaled so that max fills its length.
func meterRects(most int64, parts []part) []rect {
	var rects []rect
	x := 0.0
	for _, p := range parts {
		width := 100 * float64(p.n) / float64(max(1, most))
		if p.n > 0 {
			rects = append(rects, rect{class: p.class, x: x, width: max(width, 0.6)})
		}
		x += width
	}
	return rects
}

// coordinate formats a coordinate.
func coordinate(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

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

// visible removes control characters from a text.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 &&
			r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c, r >= 0xe0000 && r <= 0xe007f:
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// plural formats a number with its noun.
func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return textx.Thousands(n) + " " + one + "s"
}
