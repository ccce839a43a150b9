package main

import "fmt"

// target is what skillpm should reach, of one kind; the zero goal is none.
type target struct {
	Ratio float64 `json:"ratio,omitempty"`        // of wall times, skillpm's to the peer's
	Wall  float64 `json:"wall_seconds,omitempty"` // of skillpm
	Peak  float64 `json:"peak_bytes,omitempty"`   // of skillpm
}

func (g target) String() string {
	switch {
	case g.Ratio > 0:
		return fmt.Sprintf("≤ %.3g×", g.Ratio)
	case g.Wall > 0:
		return fmt.Sprintf("≤ %.3g ms", g.Wall*1e3)
	case g.Peak > 0:
		return fmt.Sprintf("< %.3g MB", g.Peak/1e6)
	}
	return ""
}

// verdict says whether a result reaches the goal: "pass", "miss", or "" where it can't be said.
func (g target) verdict(r result) string {
	var reached bool
	switch {
	case r.Error != "":
		return ""
	case g.Ratio > 0:
		if r.Ratio == nil {
			return ""
		}
		reached = r.Ratio.Median <= g.Ratio
	case g.Wall > 0:
		reached = r.Ours.Wall.Median <= g.Wall
	case g.Peak > 0:
		reached = r.Ours.Peak.Max < g.Peak
	default:
		return ""
	}
	if reached {
		return "pass"
	}
	return "miss"
}
