package pack

import (
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Pack is one version of a pack in a source: pinned and described, but not fetched yet.
type Pack struct {
	ID           ID
	Unnamed      bool   // the source does not state a name; ID is that of [Ref.DefaultID]
	Version      string // strict semver, without a leading v
	Description  string
	License      string
	Ref          Ref                // its source, pinned to a digest or commit
	Integrity    string             // "t1:sha256:…" over all its skills, "" if the source does not have it
	Skills       []Skill            // sorted by name
	Dependencies []Dependency       // sorted by ID
	Published    string             // RFC 3339, "" if the source does not have it
	Yanked       string             // why it was yanked, "" if it was not
	Tags         []string           // words to find it by
	Requires     skill.Requirements // what its skills need on a machine
	Warnings     []string           // which files were left out, and why
}

// Skill is one skill of a pack.
type Skill struct {
	Name        string
	Description string
	Tree        string // tree digest "t1:sha256:…", "" if the source does not have it
}

// Dependency is a requirement of another pack.
type Dependency struct {
	ID         ID
	Constraint string   // a semver range; "" if Ref pins a commit, tag or digest
	Ref        *Ref     // nil for a pack that registries have by its name
	Skills     []string // the required skills; empty means all
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

// FormatRequirement returns a dependency as a lockfile has it: the source, the range of versions, and the required
// skills in brackets, separated by spaces. Empty parts are left out.
func FormatRequirement(d Dependency) string {
	text := d.Constraint
	if d.Ref != nil {
		text = d.Ref.String() + " " + text
	}
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
	if source, constraint, _ := strings.Cut(d.Constraint, " "); isSource(source) {
		ref, err := Parse(source)
		if err != nil {
			return Dependency{}, err
		}
		d.Ref, d.Constraint = &ref, constraint
	}
	return d, nil
}

// isSource distinguishes a source from a range of versions.
func isSource(s string) bool {
	for _, prefix := range []string{"path:", "oci-layout:", "./", "../", "/"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return s == "." || s == ".." || strings.Contains(s, "://")
}

// Requires returns the dependencies of the pack in order of ids.
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

// Allows reports whether the range of a dependency allows a version. The ranges "", "*" and "latest" allow any release;
// without a range, a dependency with a source allows pre-releases too.
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
		return false, diag.Errorf(diag.Invalid, "invalid version range %q", d.Constraint)
	}
	v, err := semver.StrictNewVersion(version)
	if err != nil {
		return false, diag.Errorf(diag.Invalid, "invalid version %q", version)
	}
	return constraint.Check(v), nil
}

// References returns the sources that a pack's dependencies name.
func References(p *Pack) []Ref {
	var list []Ref
	for _, d := range p.Dependencies {
		if d.Ref != nil {
			list = append(list, *d.Ref)
		}
	}
	return list
}
