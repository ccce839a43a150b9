package report

import (
	"slices"
	"time"
)

// mostBars is the maximum number of bars in a chart.
const mostBars = 62

// step is the length of time of one bar.
type step struct {
	name  string // the length of one
	first func(time.Time) time.Time
	next  func(time.Time) time.Time
	label string // a layout of time.Format
}

// steps are the possible steps, shortest first.
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

// bar is the activity in one step.
type bar struct {
	from  time.Time
	label string
	counts
}

// bars returns the activity step by step, without gaps: by hour for up to two days, otherwise with the shortest step
// that gives at most mostBars.
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

// count returns the number of steps between two times, at most mostBars+1.
func count(s step, first, last time.Time) (n int) {
	for t := s.first(first); !t.After(last) && n <= mostBars; t = s.next(t) {
		n++
	}
	return n
}
