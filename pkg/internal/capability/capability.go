package capability

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Evidence is a position in a file that shows a capability.
type Evidence struct {
	Capability policy.Capability `json:"capability"`
	// Name distinguishes what the capability is about: a host, a secret, a tool, a command, or the path of a script or of
	// a file outside the skill. It is "" if that is unknown. It has no control characters.
	Name string `json:"name,omitempty"`
	Path string `json:"path"`           // relative to the skill, with slashes
	Line int    `json:"line,omitempty"` // from 1; 0 for the whole file
	Why  string `json:"why"`            // a few words, such as "reaches api.github.com with curl"
}

// String returns the position and the reason.
func (e Evidence) String() string { return textx.Position(e.Path, e.Line) + " " + e.Why }

// Set is the evidence for a skill's capabilities, in the order of [policy.Capabilities], then of paths and lines. Those
// that policies cannot name are last.
type Set []Evidence

// List returns the capabilities that policies can name, each once, in the order of [policy.Capabilities].
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
		text += ", and " + textx.Count(more, "more location")
	}
	return text
}

// Summary describes the capabilities in a phrase, such as "runs scripts, reaches api.github.com, writes files". It is ""
// for none.
func (s Set) Summary() string {
	var parts []string
	for _, p := range []struct {
		capability policy.Capability
		phrase     string
	}{
		{policy.NativeBinaries, "contains native programs"},
		{policy.Hooks, "has hooks"},
		{policy.DynamicShell, "runs commands when an agent loads it"},
		{policy.Scripts, "runs scripts"},
		{policy.Administrator, "uses administrator rights"},
		{policy.NetworkTools, "reaches " + s.names(policy.NetworkTools, "the network", "host")},
		{policy.Secrets, "reads " + s.names(policy.Secrets, "secrets", "secret")},
		{policy.FileWrite, "writes files"},
		{policy.UnscopedShell, "allows every shell command"},
	} {
		if s.Has(p.capability) {
			parts = append(parts, p.phrase)
		}
	}
	return strings.Join(parts, ", ")
}

// maxNamed is the number of hosts and of secrets that a summary names.
const maxNamed = 3

// names joins the names of a capability's evidence; unnamed is the text if there are none.
func (s Set) names(c policy.Capability, unnamed, noun string) string {
	var names []string
	others := false
	for _, e := range s.Of(c) {
		if e.Name == "" {
			others = true
			continue
		}
		names = append(names, textx.TruncateRunes(e.Name, 60))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch more := len(names) - maxNamed; {
	case len(names) == 0:
		return unnamed
	case more > 0:
		names = append(names[:maxNamed:maxNamed], textx.Count(more, "more "+noun))
	case others:
		names = append(names, "other "+noun+"s")
	}
	return textx.And(names)
}

// key is what makes two pieces of evidence the same in two versions of a skill.
type key struct {
	capability policy.Capability
	name       string
}

func (e Evidence) key() key { return key{e.Capability, e.Name} }

// Increase returns what one version of a skill can do and the version before it could not: the first evidence of every
// new capability and name, wherever it is, and the restrictions that only the version before has.
func Increase(before, after Set) []Evidence {
	old, current := map[key]bool{}, map[key]bool{}
	for _, e := range before {
		old[e.key()] = true
	}
	var found Set
	for _, e := range after {
		if k := e.key(); !current[k] {
			current[k] = true
			if !old[k] && e.Capability != policy.Restriction {
				found = append(found, e)
			}
		}
	}
	for _, e := range before {
		if e.Capability == policy.Restriction && !current[e.key()] {
			current[e.key()] = true
			e.Why = "no longer " + e.Why
			found = append(found, e)
		}
	}
	return found.sorted()
}

// sorted sorts the evidence and removes duplicates.
func (s Set) sorted() Set {
	order := map[policy.Capability]int{}
	for i, c := range append(policy.Capabilities(), policy.Administrator, policy.Tools, policy.Restriction) {
		order[c] = i
	}
	slices.SortStableFunc(s, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(order[a.Capability], order[b.Capability]), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(s)
}

// maxName is the number of bytes of a text that a name shows.
const maxName = 1000

// content names a text, so that only equal texts have the same name.
func content(text string) string {
	if len(text) <= maxName {
		return text
	}
	return textx.Truncate(text, maxName) + " " + digest([]byte(text))
}

// digest returns the beginning of the SHA-256 of a content.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:16])
}

// clean replaces characters that terminals do not show, such as control characters, by spaces.
func clean(text string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, text)
}
