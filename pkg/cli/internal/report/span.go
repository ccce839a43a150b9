package report

import (
	"slices"
	"time"
)

// mostBars is how many bars a chart has.
const mostBars = 62

// step is a length of time that one bar is for.
type step struct {
	name  string // of one
	first func(time.Time) time.Time
	next  func(time.Time) time.Time
	label string // as time.Format has it
}

// steps are those that there are, the shortest first.
func steps() []step {
	midnight := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return []step{
		{
			"hour", func(t time.Time) time.Time { return t.Truncate(time.Hour) },
			func(t time.Time) time.Time { return t.Add(time.Hour) }, "2 Jan 15:04",
		},
		{"day", midnight, func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }, "2 Jan 2006"},
		{
			"week", func(t time.Time) time.Time { return midnight(t).AddDate(0, 0, -(int(t.Weekday())+6)%7) },
			func(t time.Time) time.Time { return t.AddDate(0, 0, 7) }, "2 Jan 2006",
		},
		{
			"month", func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC) },
			func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }, "Jan 2006",
		},
		{
			"year", func(t time.Time) time.Time { return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC) },
			func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }, "2006",
		},
	}
}

// bar is what was done in a step of time.
type bar struct {
	from  time.Time
	label string
	counts
}

// bars returns what was done, step by step, without a hole: hours where it was done within two days, and else the
// shortest step that leaves few enough of them.
func (s *Summary) bars() (step, []bar) {
	all := steps()
	if len(s.hours) == 0 {
		return all[1], nil
	}
	first, last := s.span()
	unit := all[len(all)-1]
	for i, step := range all {
		if i == 0 && last.Sub(first) > 48*time.Hour {
			continue
		}
		if count(step, first, last) <= mostBars {
			unit = step
			break
		}
	}
	var bars []bar
	for t := unit.first(first); !t.After(last); t = unit.next(t) {
		bars = append(bars, bar{from: t, label: t.Format(unit.label)})
	}
	for h, c := range s.hours {
		t := time.Unix(h*3600, 0).UTC()
		i, found := slices.BinarySearchFunc(bars, t, func(b bar, t time.Time) int { return b.from.Compare(t) })
		if !found {
			i--
		}
		bars[i].add(*c)
	}
	return unit, bars
}

// count returns how many steps there are between two times, or one more than mostBars.
func count(s step, first, last time.Time) (n int) {
	for t := s.first(first); !t.After(last) && n <= mostBars; t = s.next(t) {
		n++
	}
	return n
}
