package resolve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// candidate is one version of a package from one source.
type candidate struct {
	*semver.Version
	text        string
	source      string
	unavailable string // why the solver may not select the version, "" if it may
	preferred   bool   // the version is the one in the lock
	loaded      bool   // the provider was asked for the dependencies
	requires    []*dependency
}

// selectable reports whether the solver may select the version: it is available, or in the lock.
func (c *candidate) selectable() bool { return c.unavailable == "" || c.preferred }

func (c *candidate) prerelease() bool { return c.Prerelease() != "" }

// compare orders candidates by precedence, and those of equal precedence by their text.
func (c *candidate) compare(o *candidate) int {
	return cmp.Or(c.Compare(o.Version), strings.Compare(c.text, o.text))
}

// newCandidates returns the versions from one source, the highest first and each once. It skips versions that are not
// strict semver. A version that is listed twice is unavailable if either is.
func newCandidates(source string, list []Version, prefer string) []*candidate {
	found := make(map[string]*candidate, len(list))
	for _, v := range list {
		parsed, err := semver.StrictNewVersion(v.Version)
		if err != nil {
			continue
		}
		c := found[v.Version]
		if c == nil {
			c = &candidate{Version: parsed, text: v.Version, source: source, preferred: v.Version == prefer}
			found[v.Version] = c
		}
		c.unavailable = max(c.unavailable, v.reason())
	}
	candidates := make([]*candidate, 0, len(found))
	for _, c := range found {
		candidates = append(candidates, c)
	}
	slices.SortFunc(candidates, func(a, b *candidate) int { return b.compare(a) })
	return candidates
}

// reason ends the sentence that says why the version is unavailable.
func (v Version) reason() string {
	if v.Yanked && v.Reason != "" {
		return "was yanked: " + v.Reason
	}
	if v.Yanked {
		return "was yanked"
	}
	return v.Unavailable
}

func compareRequirements(a, b Requirement) int {
	return cmp.Or(a.Pack.Compare(b.Pack),
		strings.Compare(a.Source, b.Source), strings.Compare(a.Constraint, b.Constraint))
}

// sortRequirements returns the requirements in order, each once.
func sortRequirements(list []Requirement) []Requirement {
	return slices.Compact(slices.SortedFunc(slices.Values(list), compareRequirements))
}
