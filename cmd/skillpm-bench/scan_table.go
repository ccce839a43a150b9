package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// scanReport is what the scanner finds in all sets.
type scanReport struct {
	Sets []setCount `json:"sets"`
}

// table returns the counts as Markdown: of each set, then of each type of attack.
func (r scanReport) table() string {
	rows := [][]string{{"set", "malicious", "found", "share", "benign", "false", "share", "not read", "identical"}}
	types := [][]string{{"set", "attack", "skills", "found", "share"}}
	for _, s := range r.Sets {
		row := append([]string{s.Set}, s.Malicious.cells()...)
		row = append(row, s.Benign.cells()...)
		rows = append(rows, append(row, strconv.Itoa(s.Unread), strconv.Itoa(s.Identical)))
		for _, t := range slices.Sorted(maps.Keys(s.Types)) {
			types = append(types, append([]string{s.Set, t}, s.Types[t].cells()...))
		}
	}
	text := render(rows)
	if len(types) > 1 {
		text += "\n" + render(types)
	}
	return text
}

func (p proportion) cells() []string {
	if p.Skills == 0 {
		return []string{"0", "–", "–"}
	}
	return []string{
		strconv.Itoa(p.Skills), strconv.Itoa(p.Found),
		fmt.Sprintf("%.1f%% (%.1f–%.1f)", 100*p.Share, 100*p.Low, 100*p.High),
	}
}

// list returns the missed and the falsely reported skills.
func (r scanReport) list() string {
	var b strings.Builder
	for _, s := range r.Sets {
		fmt.Fprintf(&b, "\n%s: %d missed\n", s.Set, len(s.Missed))
		for _, id := range s.Missed {
			fmt.Fprintf(&b, "  %s\n", id)
		}
		fmt.Fprintf(&b, "%s: %d false positives\n", s.Set, len(s.Flagged))
		for _, id := range slices.Sorted(maps.Keys(s.Flagged)) {
			fmt.Fprintf(&b, "  %s (%s)\n", id, strings.Join(s.Flagged[id], ", "))
		}
	}
	return b.String()
}
