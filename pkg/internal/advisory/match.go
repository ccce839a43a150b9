package advisory

import (
	"reflect"
	"slices"

	"github.com/Masterminds/semver/v3"
)

// Subject is what is installed, locked, or about to be used.
type Subject struct {
	Pack    string   // owner/name; "" for a skill without a pack
	Version string   // of the pack; "" if unknown
	Trees   []string // tree digests of its skills
}

// Affects reports whether the advisory is about a subject. A withdrawn advisory is about none.
func (a *Advisory) Affects(s Subject) bool {
	if a.Withdrawn != nil {
		return false
	}
	return slices.ContainsFunc(a.Affected, func(x Affected) bool { return x.affects(s) })
}

func (x Affected) affects(s Subject) bool {
	if x.Package.Ecosystem != Ecosystem {
		return false
	}
	for _, t := range x.trees() {
		if slices.Contains(s.Trees, t) {
			return true
		}
	}
	if s.Pack == "" || s.Pack != x.Package.Name {
		return false
	}
	if slices.Contains(x.Versions, s.Version) {
		return true
	}
	v, err := semver.StrictNewVersion(s.Version)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(x.Ranges, func(r Range) bool { return r.contains(v) })
}

// contains evaluates the events in order of versions, as OSV describes it.
func (r Range) contains(v *semver.Version) bool {
	type step struct {
		at    *semver.Version
		after bool // it takes effect after this version
		on    bool
	}
	var steps []step
	for _, e := range r.Events {
		text := e.Introduced + e.Fixed + e.LastAffected // one of them
		at, err := parseVersion(text)
		if err != nil {
			return false
		}
		steps = append(steps, step{at, e.LastAffected != "", e.Introduced != ""})
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	affected := false
	for _, s := range steps {
		if c := s.at.Compare(v); c < 0 || c == 0 && !s.after {
			affected = s.on
		}
	}
	return affected
}

// HasTrees reports whether the advisory is also about content, which versions do not show.
func (a *Advisory) HasTrees() bool {
	return slices.ContainsFunc(a.Affected, func(x Affected) bool { return len(x.trees()) > 0 })
}

// Capabilities returns what the affected skills of a subject can do, as far as the advisory states it, sorted.
func (a *Advisory) Capabilities(s Subject) []string {
	var all []string
	for _, x := range a.Affected {
		if x.Specific != nil && x.affects(s) {
			all = append(all, x.Specific.Capabilities...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// FixedIn returns the lowest version after that of a subject that the advisory names as fixed and that no other part of
// it affects, or "".
func (a *Advisory) FixedIn(s Subject) string {
	v, err := semver.StrictNewVersion(s.Version)
	if err != nil {
		return ""
	}
	var best *semver.Version
	for _, x := range a.Affected {
		if x.Package.Ecosystem != Ecosystem || x.Package.Name != s.Pack {
			continue
		}
		for _, r := range x.Ranges {
			for _, e := range r.Events {
				f, err := semver.StrictNewVersion(e.Fixed)
				if err == nil && f.GreaterThan(v) && (best == nil || f.LessThan(best)) &&
					!a.Affects(Subject{Pack: s.Pack, Version: e.Fixed}) {
					best = f
				}
			}
		}
	}
	if best == nil {
		return ""
	}
	return best.String()
}

// Matching returns the advisories about a subject, malicious ones first, then by id. Of advisories that are aliases of
// each other, only the first one is returned. Different advisories of several feeds may have one id; all of them count.
func Matching(all []*Advisory, s Subject) []*Advisory {
	var found []*Advisory
	for _, a := range all {
		if a.Affects(s) {
			found = append(found, a)
		}
	}
	slices.SortStableFunc(found, compare)
	known := map[string]*Advisory{} // by id and alias
	return slices.DeleteFunc(found, func(a *Advisory) bool {
		again := false
		for _, id := range append([]string{a.ID}, a.Aliases...) {
			first, exists := known[id]
			again = again || exists && (first.ID != a.ID || id != a.ID || reflect.DeepEqual(first, a))
			if !exists {
				known[id] = a
			}
		}
		return again
	})
}
