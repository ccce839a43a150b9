package pack

import (
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Required writes a dependency as a lock does: the place, the range of versions, and in brackets the skills that are
// wanted, each where there is one, with spaces between them.
func Required(d Dependency) string {
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

// ParseRequired is the inverse of [Required]. Errors have code [diag.Invalid].
func ParseRequired(id ID, text string) (Dependency, error) {
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
		d, err := ParseRequired(id, p.Dependencies[name])
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
