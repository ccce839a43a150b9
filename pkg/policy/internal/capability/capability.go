package capability

import (
	"cmp"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Evidence is a position in a file that shows a capability.
type Evidence struct {
	Capability policy.Capability `json:"capability"`
	Path       string            `json:"path"`           // relative to the skill, with slashes
	Line       int               `json:"line,omitempty"` // from 1; 0 for the whole file
	Why        string            `json:"why"`            // a few words, such as "runs curl"
}

// String returns the position and the reason.
func (e Evidence) String() string { return textx.Position(e.Path, e.Line) + " " + e.Why }

// Set is the evidence for a skill's capabilities, in the order of [policy.Capabilities], then of paths and lines.
type Set []Evidence

// List returns the capabilities, each once, in the order of [policy.Capabilities].
func (s Set) List() []policy.Capability {
	var list []policy.Capability
	for _, c := range policy.Capabilities() {
		if s.Has(c) {
			list = append(list, c)
		}
	}
	return list
}

// Has reports whether there is evidence of a capability.
func (s Set) Has(c policy.Capability) bool { return len(s.Of(c)) > 0 }

// Of returns the evidence of one capability.
func (s Set) Of(c policy.Capability) Set {
	first := slices.IndexFunc(s, func(e Evidence) bool { return e.Capability == c })
	if first < 0 {
		return nil
	}
	last := first
	for last < len(s) && s[last].Capability == c {
		last++
	}
	return s[first:last]
}

// Because returns the first evidence of a capability for a message, and how many more there are.
func (s Set) Because(c policy.Capability) string {
	all := s.Of(c)
	if len(all) == 0 {
		return ""
	}
	text := all[0].String()
	if more := len(all) - 1; more > 0 {
		text += plural(more)
	}
	return text
}

// sorted sorts the evidence and removes duplicates.
func (s Set) sorted() Set {
	order := map[policy.Capability]int{}
	for i, c := range policy.Capabilities() {
		order[c] = i
	}
	slices.SortStableFunc(s, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(order[a.Capability], order[b.Capability]), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(s)
}
