package audit

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// SkillStats is how one skill was used. A skill of a pack is another than one of the same name elsewhere.
type SkillStats struct {
	Skill string `json:"skill"`
	Pack  string `json:"pack,omitempty"`

	Activations int64 `json:"activations"` // also those that were handed to a runner
	Runs        int64 `json:"runs"`        // of scripts, commands and hooks, and tasks that ended
	// of all of these, with those that were ended at their limit, and missing files
	Failures int64 `json:"failures"`
	Refusals int64 `json:"refusals"` // activations, and calls of tools, that were denied

	TotalMS int64 `json:"totalMs"` // how long its runs took, in milliseconds
	MeanMS  int64 `json:"meanMs"`
	P50MS   int64 `json:"p50Ms"` // half of them took no longer; to 5 %
	P95MS   int64 `json:"p95Ms"`
	MaxMS   int64 `json:"maxMs"`

	First *time.Time `json:"first,omitempty"` // when it was used: activated, or run
	Last  *time.Time `json:"last,omitempty"`

	timed int64 // runs whose duration is known
	took  []int64
}

// A duration counts in the class of those that are up to a tenth longer.
const classWidth = 1.1

// class returns the class of a duration.
func class(ms int64) int {
	if ms <= 0 {
		return 0
	}
	return 1 + int(math.Log(float64(ms))/math.Log(classWidth))
}

// percentile returns what so many of a hundred runs did not take longer than.
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

// maxSkills is how many skills are told apart.
const maxSkills = 50_000

// Stats sums up a log for each of its skills. The zero value is ready for [Stats.Add].
type Stats struct {
	Since time.Time // records from before are left out; the zero time leaves none out
	Skill string    // only this one, by its name; "" for all

	Others int64 // records of skills beyond the most that are told apart

	skills map[[2]string]*SkillStats
}

// Uses reports whether a record is about a use of a skill, or a refusal of one: not about what was installed, approved
// or denied to everybody.
func (r Record) Uses() bool {
	switch r.Action {
	case Activate, Deactivate, Hook, Run, Refuse, Missing, Task, TaskEnd:
		return true
	}
	return false
}

// Add takes a record into account. One that names no skill, or is not about the use of one, counts for none.
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
	if err == nil && used(r) {
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
			return // it never began, or was lost
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

// used reports whether a record says that a skill was used.
func used(r Record) bool {
	switch r.Action {
	case Activate, Task, Run, Hook, TaskEnd:
		return r.Result != Denied
	}
	return false
}

// use keeps when a skill was used. Records of several processes need not be in order.
func (s *SkillStats) use(t time.Time) {
	if s.First == nil || t.Before(*s.First) {
		s.First = &t
	}
	if s.Last == nil || t.After(*s.Last) {
		s.Last = &t
	}
}

// Skills returns the sums, the busiest skill first.
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
