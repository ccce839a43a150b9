package audit

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// SkillStats are the usage statistics of one skill. Skills of the same name in different packs are different.
type SkillStats struct {
	Skill string `json:"skill"`
	Pack  string `json:"pack,omitempty"`

	Activations int64 `json:"activations"` // including those submitted as tasks
	Runs        int64 `json:"runs"`        // scripts, commands, hooks, and ended tasks
	// Failures counts those of the above that failed or exceeded a limit, and missing files.
	Failures int64 `json:"failures"`
	Refusals int64 `json:"refusals"` // denied activations and tool calls

	TotalMS int64 `json:"totalMs"` // duration of the runs in milliseconds
	MeanMS  int64 `json:"meanMs"`
	P50MS   int64 `json:"p50Ms"` // median with a precision of 5 %
	P95MS   int64 `json:"p95Ms"`
	MaxMS   int64 `json:"maxMs"`

	First *time.Time `json:"first,omitempty"` // first use: an activation or a run
	Last  *time.Time `json:"last,omitempty"`

	timed int64 // runs with a known duration
	took  []int64
}

// Durations are counted in classes, each 10 % longer than the previous one.
const classWidth = 1.1

// class returns the class of a duration in milliseconds.
func class(ms int64) int {
	if ms <= 0 {
		return 0
	}
	return 1 + int(math.Log(float64(ms))/math.Log(classWidth))
}

// percentile returns the duration in milliseconds that p percent of the runs did not exceed.
func (s *SkillStats) percentile(p int64) int64 {
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

// maxSkills is the maximum number of skills with their own statistics.
const maxSkills = 50_000

// Stats aggregates a log by skill. The zero value is ready for [Stats.Add].
type Stats struct {
	Since time.Time // ignore earlier records; zero ignores none
	Skill string    // only the skill with this name; "" for all

	Others int64 // records of skills beyond maxSkills

	skills map[[2]string]*SkillStats
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

// Add counts a record if it is about the use of a skill.
func (s *Stats) Add(r Record) {
	t, err := time.Parse(time.RFC3339Nano, r.Time)
	if r.Skill == "" || !r.Uses() || r.Phase == Intent || s.Skill != "" && r.Skill != s.Skill ||
		!s.Since.IsZero() && (err != nil || t.Before(s.Since)) {
		return
	}
	key := [2]string{r.Skill, r.Pack}
	stats := s.skills[key]
	if stats == nil {
		if len(s.skills) == maxSkills {
			s.Others++
			return
		}
		if s.skills == nil {
			s.skills = make(map[[2]string]*SkillStats)
		}
		stats = &SkillStats{Skill: r.Skill, Pack: r.Pack}
		s.skills[key] = stats
	}
	stats.add(r)
	if err == nil && isUse(r) {
		stats.use(t.UTC())
	}
}

// add counts a record.
func (s *SkillStats) add(r Record) {
	switch r.Result {
	case Denied:
		s.Refusals++
		return
	case Failed, Timeout:
		s.Failures++
	}
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
		s.TotalMS += max(0, r.DurationMS)
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
func (s *SkillStats) use(t time.Time) {
	if s.First == nil || t.Before(*s.First) {
		s.First = &t
	}
	if s.Last == nil || t.After(*s.Last) {
		s.Last = &t
	}
}

// Skills returns the statistics, the most used skill first.
func (s *Stats) Skills() []SkillStats {
	all := make([]SkillStats, 0, len(s.skills))
	for _, k := range s.skills {
		k.P50MS, k.P95MS = k.percentile(50), k.percentile(95)
		all = append(all, *k)
	}
	slices.SortFunc(all, func(a, b SkillStats) int {
		return cmp.Or(
			cmp.Compare(b.Activations+b.Runs, a.Activations+a.Runs),
			cmp.Compare(b.Failures+b.Refusals, a.Failures+a.Refusals),
			cmp.Compare(a.Skill, b.Skill), cmp.Compare(a.Pack, b.Pack),
		)
	})
	return all
}
