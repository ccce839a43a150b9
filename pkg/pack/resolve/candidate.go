package resolve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/pack"
)

// candidate is one version of a pack from one place.
type candidate struct {
	version   string
	release   release
	plain     bool // the version is release and nothing else
	preferred bool
	held      bool            // not taken, for the reason that the pack has
	parsed    *semver.Version // of a version that is not plain, and when the library is asked
	requires  int32           // the number of the list of what it requires; 0 until asked for
}

// newCandidate reads a version. It is not ok for what is not strict semver.
func newCandidate(v *Version) (c candidate, ok bool) {
	c = candidate{version: v.Version, held: v.Yanked || v.Withheld != ""}
	if c.release, c.plain = parseRelease(v.Version); c.plain {
		return c, true
	}
	parsed, err := semver.StrictNewVersion(v.Version)
	c.parsed = parsed
	return c, err == nil
}

// reason ends the sentence that says why the version is not taken.
func (v *Version) reason() string {
	if v.Yanked && v.Reason != "" {
		return "was yanked: " + v.Reason
	}
	if v.Yanked {
		return "was yanked"
	}
	return v.Withheld
}

// semver returns the version as the library has it.
func (c *candidate) semver() *semver.Version {
	if c.parsed == nil {
		c.parsed, _ = semver.StrictNewVersion(c.version) // plain versions are strict semver
	}
	return c.parsed
}

func (c *candidate) prerelease() bool { return !c.plain && c.parsed.Prerelease() != "" }

// compare orders candidates by precedence, and those of equal precedence by their text.
func (c *candidate) compare(o *candidate) int {
	if c.plain && o.plain {
		return cmp.Compare(c.release, o.release)
	}
	return cmp.Or(c.semver().Compare(o.semver()), strings.Compare(c.version, o.version))
}

// sortCandidates puts the highest first and leaves each version once. A version that is listed twice is held if either
// is.
func sortCandidates(list []candidate) []candidate {
	descending := func(a, b candidate) int { return b.compare(&a) }
	if ascending := slices.IsSortedFunc(list, func(a, b candidate) int { return a.compare(&b) }); ascending {
		slices.Reverse(list)
	} else {
		slices.SortStableFunc(list, descending)
	}
	return slices.CompactFunc(list, func(a, b candidate) bool { return a.version == b.version })
}

// compareIDs orders ids as their texts are ordered, without writing these.
func compareIDs(a, b pack.ID) int {
	if a.Owner == b.Owner {
		return strings.Compare(a.Name, b.Name)
	}
	if n := min(len(a.Owner), len(b.Owner)); a.Owner[:n] != b.Owner[:n] {
		return strings.Compare(a.Owner, b.Owner)
	}
	return a.Compare(b)
}

func compareRequirements(a, b Requirement) int {
	if a.Pack != b.Pack {
		return compareIDs(a.Pack, b.Pack)
	}
	return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Constraint, b.Constraint))
}

// sortedRequirements puts the requirements in order, and leaves each once.
func sortedRequirements(list []Requirement) []Requirement {
	slices.SortFunc(list, compareRequirements)
	return slices.Compact(list)
}
