package audit

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Usage has the usage statistics of a group of records, such as those of one skill, or of one skill in one team. The
// fields by which the records are not grouped are empty.
type Usage struct {
	Team    string `json:"team,omitempty"`
	User    string `json:"user,omitempty"`
	Machine string `json:"machine,omitempty"`
	Project string `json:"project,omitempty"` // path of its directory
	Agent   string `json:"agent,omitempty"`
	Skill   string `json:"skill,omitempty"`
	Pack    string `json:"pack,omitempty"`
	Version string `json:"version,omitempty"`

	Activations int64 `json:"activations"` // including those submitted as tasks
	Runs        int64 `json:"runs"`        // scripts, commands, hooks, and ended tasks
	Succeeded   int64 `json:"succeeded"`   // activations and runs without a failure
	// Failures counts activations and runs that failed or exceeded a limit, and missing files.
	Failures int64 `json:"failures"`
	Refusals int64 `json:"refusals"` // denied activations and tool calls
	Found    int64 `json:"found"`    // how often a search suggested the skill
	Tokens   int64 `json:"tokens"`   // estimate of the tokens that the activations added

	TotalMS int64 `json:"totalMs"` // duration of the runs in milliseconds
	MeanMS  int64 `json:"meanMs"`
	P50MS   int64 `json:"p50Ms"` // median with a precision of 5%
	P95MS   int64 `json:"p95Ms"`
	MaxMS   int64 `json:"maxMs"`

	First *time.Time `json:"first,omitempty"` // first use: an activation or a run
	Last  *time.Time `json:"last,omitempty"`

	timed int64 // runs with a known duration
	took  []int64
}

// IsUsed reports whether there was an activation, a run, a failure, or a denial.
func (s *Usage) IsUsed() bool { return s.Activations+s.Runs+s.Failures+s.Refusals > 0 }

// Durations are counted in classes, each 10% longer than the previous one.
const classWidth = 1.1

// class returns the class of a duration in milliseconds.
func class(ms int64) int {
	if ms <= 0 {
		return 0
	}
	return 1 + int(math.Log(float64(ms))/math.Log(classWidth))
}

// percentile returns the duration in milliseconds that p percent of the runs did not exceed.
func (s *Usage) percentile(p int64) int64 {
	rank := (s.timed*p + 99) / 100
	if rank == s.timed {
		return s.MaxMS
	}
	for c, n := range s.took {
		if rank -= n; rank <= 0 && c > 0 {
			return min(int64(math.Round(math.Pow(classWidth, float64(c)-0.5))), s.MaxMS)
		} else if rank <= 0 {
			return 0
		}
	}
	return s.MaxMS
}

// The fields by which [Stats] groups records.
const (
	ByTeam    = "team"
	ByUser    = "user"
	ByMachine = "machine"
	ByProject = "project"
	ByAgent   = "agent"
	BySkill   = "skill" // skills with the same name in different packs are different
	ByPack    = "pack"
	ByVersion = "version" // of a skill
)

// Fields returns the fields by which [Stats] groups records.
func Fields() []string {
	return []string{ByTeam, ByUser, ByMachine, ByProject, ByAgent, ByPack, BySkill, ByVersion}
}

// maxGroups is the maximum number of groups with their own statistics.
const maxGroups = 50_000

// Stats aggregates a log. The zero value groups by skill and is ready for [Stats.Add].
type Stats struct {
	By    []string  // fields by which records are grouped; nil for the skill
	Since time.Time // ignore earlier records; zero ignores none
	Skill string    // only the skill with this name; "" for all

	Others int64 // records of groups beyond maxGroups

	groups map[group]*Usage
}

// group identifies the records of a group.
type group struct{ team, user, machine, project, agent, skill, pack, version string }

// groupOf returns the group of a record.
func (s *Stats) groupOf(r *Record) (g group) {
	if s.By == nil {
		return group{skill: r.Skill, pack: r.Pack}
	}
	for _, field := range s.By {
		switch field {
		case ByTeam:
			g.team = r.Team
		case ByUser:
			g.user = r.User
		case ByMachine:
			g.machine = r.Machine
		case ByProject:
			g.project = r.Project
		case ByAgent:
			g.agent = r.Host
		case ByPack:
			g.pack = r.Pack
		case BySkill:
			g.skill, g.pack = r.Skill, r.Pack
		case ByVersion:
			g.skill, g.pack, g.version = r.Skill, r.Pack, r.Version
		}
	}
	return g
}

// Uses reports whether a record is about a use of a skill or its denial, not about installing, approving, or changing
// policies.
func (r Record) Uses() bool {
	switch r.Action {
	case Activate, Deactivate, Hook, Run, Refuse, Missing, Task, TaskEnd:
		return true
	}
	return false
}

// Add counts a record if it is about the use of a skill, or about a search for one.
func (s *Stats) Add(r Record) {
	t, err := time.Parse(time.RFC3339Nano, r.Time)
	if !s.Since.IsZero() && (err != nil || t.Before(s.Since)) {
		return
	}
	if r.Action == Find {
		for _, found := range r.Found[:min(len(r.Found), maxFound)] {
			r.Skill, r.Pack, _ = strings.Cut(found, "@")
			if usage := s.usage(&r); usage != nil {
				usage.Found++
			}
		}
		return
	}
	if r.Skill == "" || !r.Uses() || r.Phase == Intent {
		return
	}
	usage := s.usage(&r)
	if usage == nil {
		return
	}
	r.Tokens, r.DurationMS = Bounded(r.Tokens), Bounded(r.DurationMS)
	usage.add(r)
	if t = t.UTC(); err == nil && isUse(r) && t.Year() >= 0 && t.Year() <= 9999 { // JSON has no other years
		usage.use(t)
	}
}

// Bounded returns a number of a record as a number from 0 to 10¹², so that a sum stays one: a log may be forged.
func Bounded(n int64) int64 { return min(max(0, n), 1e12) }

// usage returns the statistics of a record's group, nil if there are none.
func (s *Stats) usage(r *Record) *Usage {
	if s.Skill != "" && r.Skill != s.Skill {
		return nil
	}
	g := s.groupOf(r)
	usage := s.groups[g]
	if usage == nil {
		if len(s.groups) == maxGroups {
			s.Others++
			return nil
		}
		if s.groups == nil {
			s.groups = make(map[group]*Usage)
		}
		usage = &Usage{
			Team: g.team, User: g.user, Machine: g.machine, Project: g.project, Agent: g.agent,
			Skill: g.skill, Pack: g.pack, Version: g.version,
		}
		s.groups[g] = usage
	}
	return usage
}

// add counts a record.
func (s *Usage) add(r Record) {
	switch r.Result {
	case Denied:
		s.Refusals++
		return
	case Failed, Timeout:
		s.Failures++
	case OK:
		if isUse(r) {
			s.Succeeded++
		}
	}
	s.Tokens += r.Tokens
	switch r.Action {
	case Activate, Task:
		if r.Result == OK {
			s.Activations++
		}
	case Run, Hook, TaskEnd:
		s.Runs++
		if r.ExitCode == nil && r.DurationMS <= 0 {
			return // it did not start, or was lost
		}
		s.timed++
		s.TotalMS += r.DurationMS
		s.MaxMS = max(s.MaxMS, r.DurationMS)
		s.MeanMS = s.TotalMS / s.timed
		c := class(r.DurationMS)
		if more := c + 1 - len(s.took); more > 0 {
			s.took = append(s.took, make([]int64, more)...)
		}
		s.took[c]++
	}
}

// isUse reports whether a record shows that a skill was used.
func isUse(r Record) bool {
	switch r.Action {
	case Activate, Task, Run, Hook, TaskEnd:
		return r.Result != Denied
	}
	return false
}

// use updates the first and the last use. Records of several processes may be out of order.
func (s *Usage) use(t time.Time) {
	if s.First == nil || t.Before(*s.First) {
		s.First = &t
	}
	if s.Last == nil || t.After(*s.Last) {
		s.Last = &t
	}
}

// Usages returns the statistics of all groups, the most used one first.
func (s *Stats) Usages() []Usage {
	all := make([]Usage, 0, len(s.groups))
	for _, k := range s.groups {
		k.P50MS, k.P95MS = k.percentile(50), k.percentile(95)
		all = append(all, *k)
	}
	slices.SortFunc(all, func(a, b Usage) int {
		return cmp.Or(
			cmp.Compare(b.Activations+b.Runs, a.Activations+a.Runs),
			cmp.Compare(b.Failures+b.Refusals, a.Failures+a.Refusals),
			cmp.Compare(a.Skill, b.Skill), cmp.Compare(a.Pack, b.Pack), cmp.Compare(a.Version, b.Version),
			cmp.Compare(a.Team, b.Team), cmp.Compare(a.User, b.User), cmp.Compare(a.Machine, b.Machine),
			cmp.Compare(a.Project, b.Project), cmp.Compare(a.Agent, b.Agent),
		)
	})
	return all
}
