package lint

import (
	"path"

	"github.com/skillpm/skillpm/pkg/internal/capability"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Capabilities is what the files of a skill make it able to do.
type Capabilities struct {
	Skill    string               `json:"skill"`    // directory of the skill
	Summary  string               `json:"summary"`  // such as "runs scripts, reaches api.github.com"
	Evidence []CapabilityEvidence `json:"evidence"` // only with [Options.Evidence]
}

// CapabilityEvidence is a position in a file that shows a capability.
type CapabilityEvidence = capability.Evidence

// readCapabilities finds the capabilities of the skill in the files that were read.
func (u *skillCheck) readCapabilities(names []string) {
	if !u.l.mayWantCapabilities(u.dir) {
		return
	}
	var b capability.Builder
	main := path.Base(u.file)
	for _, rel := range names {
		f := u.files[rel]
		in := capability.File{
			Path: rel, Size: f.size, Executable: f.mode&0o111 != 0, Data: f.data, Format: f.format, Summary: f.summary,
		}
		if in.Data == nil {
			in.Data = f.head
		}
		if rel == main {
			in.Path, in.Doc, in.Hits = skill.File, u.doc, f.hits // its name may have a wrong case
		}
		b.Add(in)
	}
	set := b.Set()
	u.capabilities.Summary = set.Summary()
	if u.l.Evidence {
		u.capabilities.Evidence = set
	}
}

// wantsCapabilities reports whether the report lists capabilities if it has this many skills.
func (l *lintRun) wantsCapabilities(skills int) bool {
	return l.Evidence || l.Capabilities < 0 || skills <= l.Capabilities
}

// mayWantCapabilities reports whether the report may still list the capabilities of a skill: the limit is not exceeded.
func (l *lintRun) mayWantCapabilities(dir string) bool {
	l.capabilityDirs.Lock()
	defer l.capabilityDirs.Unlock()
	first := l.capabilityDirs.set
	if first[dir] || !l.wantsCapabilities(len(first)+1) {
		return first[dir]
	}
	if first == nil {
		l.capabilityDirs.set = map[string]bool{}
	}
	l.capabilityDirs.set[dir] = true
	return true
}
