package pack

import (
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
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

// FormatRequirement writes a dependency as a lock does: the place, the range of versions, and in brackets the skills
// that are wanted, each where there is one, with spaces between them.
func FormatRequirement(d Dependency) string {
	place := ""
	if d.Ref != nil {
		place = d.Ref.String()
	}
	text := place + " " + d.Constraint
	if len(d.Skills) > 0 {
		text += " [" + strings.Join(d.Skills, ", ") + "]"
	}
	return strings.TrimSpace(text)
}

// ParseRequirement is the inverse of [FormatRequirement]. Errors have code [diag.Invalid].
func ParseRequirement(id ID, text string) (Dependency, error) {
	d := Dependency{ID: id}
	text, list, _ := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	if list != "" {
		d.Skills = strings.Split(list, ", ")
	}
	d.Constraint = strings.TrimSpace(text)
	if place, constraint, _ := strings.Cut(d.Constraint, " "); isPlace(place) {
		ref, err := Parse(place)
		if err != nil {
			return Dependency{}, err
		}
		d.Ref, d.Constraint = &ref, constraint
	}
	return d, nil
}

// isPlace tells a place from a range of versions.
func isPlace(s string) bool {
	for _, prefix := range []string{"path:", "oci-layout:", "./", "../", "/"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return s == "." || s == ".." || strings.Contains(s, "://")
}

// Requires returns what the pack requires, in order of the packs.
func (p *LockedPack) Requires() ([]Dependency, error) {
	deps := make([]Dependency, 0, len(p.Dependencies))
	for _, name := range slices.Sorted(maps.Keys(p.Dependencies)) {
		id, err := ParseID(name)
		if err != nil {
			return nil, err
		}
		d, err := ParseRequirement(id, p.Dependencies[name])
		if err != nil {
			return nil, err
		}
		deps = append(deps, d)
	}
	return deps, nil
}

// Allows reports whether a range of versions allows a version. Any version will do where the range is "", "*" or
// "latest"; an empty one of a place allows whatever is there, also a version before a release.
func Allows(d Dependency, version string) (bool, error) {
	if d.Constraint == "" && d.Ref != nil {
		return true, nil
	}
	text := d.Constraint
	if text == "" || text == "latest" {
		text = "*"
	}
	constraint, err := semver.NewConstraint(text)
	if err != nil {
		return false, diag.Errorf(diag.Invalid, "%q is not a range of versions", d.Constraint)
	}
	v, err := semver.StrictNewVersion(version)
	if err != nil {
		return false, diag.Errorf(diag.Invalid, "version %q is not a semantic version", version)
	}
	return constraint.Check(v), nil
}
