package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// Limits of what is counted separately. The rest counts as "others".
const (
	mostHours    = 200_000 // hours with activity
	mostReasons  = 2000
	mostMachines = 10_000
	mostSkills   = 50_000
)

// others is the name for what is not counted separately.
const others = "others"

// Summary aggregates records for a page, in memory that does not depend on the size of the logs.
type Summary struct {
	Records int64

	stats    audit.Stats
	skills   map[string]bool // names of used skills
	tokens   int64
	total    counts
	hours    map[int64]*counts // by hour since 1970
	undated  int64
	reasons  map[string]*reason
	machines map[string]*machine
	teams    map[string]*machine // by name; empty if no record has a team
}

// counts are numbers of operations.
type counts struct{ activations, worked, failed, refused int64 }

// reason is a reason for denials or failures.
type reason struct {
	text            string
	refused, failed int64
	skills          map[string]bool
	last            time.Time
}

// machine is the activity on one machine, or of one team.
type machine struct {
	name  string
	users map[string]bool
	counts
	last time.Time
}

// NewSummary returns an empty summary. The page has a table of stats, which must be empty, too.
func NewSummary(stats audit.Stats) *Summary {
	return &Summary{
		stats: stats, skills: map[string]bool{}, hours: map[int64]*counts{}, reasons: map[string]*reason{},
		machines: map[string]*machine{}, teams: map[string]*machine{},
	}
}

// Add adds a record.
func (s *Summary) Add(r audit.Record) {
	s.Records++
	if r.Phase == audit.Intent {
		return
	}
	s.stats.Add(r)
	c := countsOf(r)
	s.total.add(c)
	t, err := time.Parse(time.RFC3339Nano, r.Time)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		t = time.Time{}
		s.undated++
	} else {
		s.hour(t.Unix() / 3600).add(c)
	}
	if r.Uses() && r.Skill != "" && len(s.skills) < mostSkills {
		s.skills[r.Skill+"@"+r.Pack] = true
	}
	s.tokens += audit.Bounded(r.Tokens)
	activity(s.machines, cmp.Or(r.Machine, "unknown"), r, t).add(c)
	if r.Team != "" || len(s.teams) > 0 {
		activity(s.teams, cmp.Or(r.Team, "none"), r, t).add(c)
	}
	if c.failed+c.refused > 0 {
		s.reason(r, t, c)
	}
}

// countsOf returns the counts of a record. Approvals, denials of skills, and installations do not count as uses; denied
// installations do.
func countsOf(r audit.Record) (c counts) {
	switch {
	case r.Result == audit.Denied && (r.Uses() || r.Action == audit.Install || r.Action == audit.Update ||
		r.Action == audit.HookEvent):
		c.refused = 1
	case !r.Uses(), r.Result == audit.Denied:
	case r.Result == audit.Failed, r.Result == audit.Timeout:
		c.failed = 1
	case r.Action == audit.Activate, r.Action == audit.Task:
		c.activations = 1
	case r.Action == audit.Run, r.Action == audit.Hook, r.Action == audit.TaskEnd:
		c.worked = 1
	}
	return c
}

func (c *counts) add(o counts) {
	c.activations += o.activations
	c.worked += o.worked
	c.failed += o.failed
	c.refused += o.refused
}

func (s *Summary) hour(h int64) *counts {
	c := s.hours[h]
	if c == nil {
		c = &counts{}
		if len(s.hours) < mostHours {
			s.hours[h] = c
		}
	}
	return c
}

// activity notes the user and the time of a record for a machine or a team, and returns its activity.
func activity(all map[string]*machine, name string, r audit.Record, t time.Time) *machine {
	m := all[name]
	if m == nil && len(all) >= mostMachines {
		name = others
		m = all[name]
	}
	if m == nil {
		m = &machine{name: name, users: map[string]bool{}}
		all[name] = m
	}
	if len(m.users) < 1000 {
		m.users[r.User] = true
	}
	if t.After(m.last) {
		m.last = t
	}
	return m
}

// reason counts a reason for a denial or failure. Texts with the same first words are one reason.
func (s *Summary) reason(r audit.Record, t time.Time, c counts) {
	text := why(r)
	if s.reasons[text] == nil && len(s.reasons) >= mostReasons {
		text = others
	}
	k := s.reasons[text]
	if k == nil {
		k = &reason{text: text, skills: map[string]bool{}}
		s.reasons[text] = k
	}
	k.refused += c.refused
	k.failed += c.failed
	if r.Skill != "" && len(k.skills) < 100 {
		k.skills[r.Skill] = true
	}
	if t.After(k.last) {
		k.last = t
	}
}

// mostReason is the number of bytes by which reasons are distinguished.
const mostReason = 160

func why(r audit.Record) string {
	text := textx.OneLine(r.Reason)
	switch {
	case text != "":
		return textx.Truncate(text, mostReason)
	case r.Result == audit.Timeout:
		return "the run reached its time limit"
	case r.Action == audit.Missing:
		return "a file is missing"
	case r.Result == audit.Denied && r.Tool != "":
		return "the tool " + r.Tool + " is not allowed"
	case r.Result == audit.Denied:
		return "denied without a reason"
	}
	return "failed without a reason"
}

// topReasons returns the most frequent reasons.
func (s *Summary) topReasons(n int, value func(*reason) int64) (top []*reason) {
	for _, r := range s.reasons {
		if value(r) > 0 {
			top = append(top, r)
		}
	}
	slices.SortFunc(top, func(a, b *reason) int {
		return cmp.Or(cmp.Compare(value(b), value(a)),
			cmp.Compare(a.text, b.text))
	})
	return top[:min(n, len(top))]
}

// busiestFirst returns machines or teams, the busiest first.
func busiestFirst(machines map[string]*machine) (all []*machine) {
	for _, m := range machines {
		all = append(all, m)
	}
	busy := func(m *machine) int64 { return m.activations + m.worked + m.failed + m.refused }
	slices.SortFunc(all, func(a, b *machine) int {
		return cmp.Or(cmp.Compare(busy(b), busy(a)),
			cmp.Compare(a.name, b.name))
	})
	return all
}
