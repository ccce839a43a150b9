package capability

import (
	"io/fs"
	"slices"

	"github.com/skillpm/skillpm/pkg/policy"
)

// Evidence is one place that shows a capability.
type Evidence struct {
	Capability policy.Capability `json:"capability"`
	Path       string            `json:"path"`           // in the skill, with slashes
	Line       int               `json:"line,omitempty"` // from 1; 0 for the file as a whole
	Why        string            `json:"why"`            // one sentence without a full stop
}

// Set is what a skill is able to do, with the evidence: in the order of [policy.Capabilities], and of paths.
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
func (s Set) Has(c policy.Capability) bool {
	return slices.ContainsFunc(s, func(e Evidence) bool { return e.Capability == c })
}

// Of returns the evidence of the skill at the root of a file system. The error is that of a file that can't be read: what it
// may be able to do is not known then.
func Of(fsys fs.FS) (Set, error) { return nil, nil }
