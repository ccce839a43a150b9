package pack

import (
	"slices"
	"strings"
)

// Pack is one version of a pack at a place: pinned and described, not yet fetched.
type Pack struct {
	ID           ID
	Version      string // strict semver, without a leading v
	Description  string
	License      string
	Ref          Ref          // where it is, pinned to a digest or commit
	Integrity    string       // "t1:sha256:…" over all its skills, "" where the place does not say
	Skills       []Skill      // sorted by name
	Dependencies []Dependency // sorted by ID
	Published    string       // RFC 3339, "" where the place does not say
	Yanked       string       // why it was withdrawn, "" if it was not
	Tags         []string     // words that it is found by
	Warnings     []string     // what was left out of it, and why
}

// Skill is one skill of a pack.
type Skill struct {
	Name        string
	Description string
	Tree        string // tree digest "t1:sha256:…", "" where the place does not say
}

// Dependency is what a manifest requires of another pack.
type Dependency struct {
	ID         ID
	Constraint string   // a semver range; "" where Ref pins one commit, tag or digest
	Ref        *Ref     // nil for a pack that is found by name in a registry
	Skills     []string // the skills wanted; empty means all
}

// Skill returns the pack's skill of that name.
func (p *Pack) Skill(name string) (Skill, bool) {
	i, ok := slices.BinarySearchFunc(p.Skills, name, func(s Skill, n string) int { return strings.Compare(s.Name, n) })
	if !ok {
		return Skill{}, false
	}
	return p.Skills[i], true
}

// SkillNames returns the names of the pack's skills in order.
func (p *Pack) SkillNames() []string {
	names := make([]string, len(p.Skills))
	for i, s := range p.Skills {
		names[i] = s.Name
	}
	return names
}
