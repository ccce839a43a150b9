package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Dependency is a requirement and the pack that has it.
type Dependency struct {
	By       pack.ID  // the zero ID for the root
	Versions []string // the versions of By that have it, highest first
	Requirement
	Matching []string // the versions that it allows, highest first
}

// ConflictError reports that no selection of versions meets all requirements.
type ConflictError struct {
	// Dependencies are requirements that exclude each other, and a smallest set of them: without any one the others
	// could be met. They are in order of the packs that have them.
	Dependencies []Dependency
	// Disputes are the packs that the conflict is about.
	Disputes []Dispute
	// Unavailable are versions that may not be selected, and with which there would be a solution.
	Unavailable []UnavailableVersion
	// Changes are requirements of the root that would end the conflict, each with a version that would do.
	Changes []Change
	// Removals are sets of requirements of the root. Without those of one set there is a solution. They are only
	// computed if there are no Changes.
	Removals [][]Requirement
	// Others are independent conflicts that would stay if this one ended.
	Others []*ConflictError
}

// Dispute is a pack that a conflict is about.
type Dispute struct {
	Pack        pack.ID
	Versions    []string             // all that may be selected, highest first
	Matching    []string             // those of them that meet the requirements; what they require is the conflict
	Unavailable []UnavailableVersion // versions that match and may not be selected
	Chains      [][]Dependency       // for every requirement of the pack, the chain of requirements from the root
}

// UnavailableVersion is a version that may not be selected, and why, as the end of a sentence.
type UnavailableVersion struct {
	Pack    pack.ID
	Version string
	Reason  string
}

// Change reports that the root's requirement of a pack could be another version.
type Change struct {
	Pack    pack.ID
	Version string
}

// Error shows which pack requires what, a line for each chain of requirements.
func (e *ConflictError) Error() string {
	var b strings.Builder
	e.write(&b)
	return strings.TrimSuffix(b.String(), "\n")
}

func (e *ConflictError) write(b *strings.Builder) {
	for i, d := range e.Disputes {
		if i == maxDisputes {
			fmt.Fprintf(b, "and %d more packs without a matching version\n", len(e.Disputes)-i)
			break
		}
		d.write(b)
		for _, v := range d.Unavailable {
			if !slices.Contains(e.Unavailable, v) {
				fmt.Fprintf(b, "  %s %s\n", v.Version, v.Reason)
			}
		}
	}
	for _, v := range e.Unavailable {
		fmt.Fprintf(b, "%s %s matches, but %s\n", v.Pack, v.Version, v.Reason)
	}
	for _, other := range e.Others {
		other.write(b)
	}
}

// The limits of what an explanation shows: packs, and chains for each.
const (
	maxDisputes = 8
	maxChains   = 8
)

func (d Dispute) write(b *strings.Builder) {
	b.WriteString(d.heading() + "\n")
	for i, chain := range d.Chains {
		if len(d.Chains) == 1 && len(chain) == 1 {
			continue // the heading has it
		}
		if i == maxChains {
			fmt.Fprintf(b, "  and %d more\n", len(d.Chains)-i)
			break
		}
		lines := d.lines(chain)
		if len(lines) <= 2 {
			lines = []string{strings.Join(lines, ", ")}
		}
		for i, line := range lines {
			b.WriteString(strings.Repeat("  ", min(i, 8)+1) + line + "\n")
		}
	}
}

func (d Dispute) heading() string {
	switch last := d.Chains[0][len(d.Chains[0])-1]; {
	case len(d.Matching) > 0:
		return fmt.Sprintf("%s must have version %s", d.Pack, listVersions(d.Matching, "or"))
	case len(d.Chains) == 1 && len(d.Versions) == 0 && len(d.Unavailable) > 0:
		return fmt.Sprintf("no version of %s is available", last.Requirement)
	case len(d.Chains) == 1 && len(d.Versions) == 0:
		return fmt.Sprintf("no version matches %s: the pack does not have any versions", last.Requirement)
	case len(d.Chains) == 1:
		return fmt.Sprintf("no version matches %s; available: %s", last.Requirement, listVersions(d.Versions, "and"))
	case d.sourceCount() > 1:
		return fmt.Sprintf("the requirements of %s have different sources", d.Pack)
	default:
		return fmt.Sprintf("no version of %s meets every requirement", d.Pack)
	}
}

// lines returns a chain as clauses, one for each requirement.
func (d Dispute) lines(chain []Dependency) []string {
	severalSources := d.sourceCount() > 1
	lines := make([]string, len(chain))
	for i, n := range chain {
		lines[i] = n.String()
		last := i == len(chain)-1
		switch {
		case last && severalSources && n.Source == "":
			lines[i] += " from a registry"
		case last && len(d.Chains) > 1 && !severalSources:
			lines[i] += describeMatching(n.Matching)
		case !last && len(chain[i+1].Versions) < len(n.Matching):
			lines[i] += describeMatching(n.Matching) // the others are another branch
		}
	}
	return lines
}

func describeMatching(versions []string) string {
	switch len(versions) {
	case 0:
		return " (matches no version)"
	case 1:
		return fmt.Sprintf(" (matches %s)", versions[0])
	default:
		return fmt.Sprintf(" (matches %s)", listVersions(versions, "and"))
	}
}

// sourceCount counts the sources that the requirements name.
func (d Dispute) sourceCount() int {
	sources := make(map[string]bool)
	for _, chain := range d.Chains {
		sources[chain[len(chain)-1].Source] = true
	}
	return len(sources)
}

// String returns the clause that says which pack requires what.
func (d Dependency) String() string {
	switch {
	case d.By.IsZero():
		return fmt.Sprintf("skillpm.yaml requires %s", d.Requirement)
	case len(d.Versions) == 1:
		return fmt.Sprintf("%s %s requires %s", d.By, d.Versions[0], d.Requirement)
	default:
		return fmt.Sprintf("%s %s require %s", d.By, listVersions(d.Versions, "and"), d.Requirement)
	}
}

// listVersions lists versions, and counts those that are too many to list.
func listVersions(versions []string, conjunction string) string {
	switch n := len(versions); {
	case n == 0:
		return "no version"
	case n == 1:
		return versions[0]
	case n <= 4:
		return strings.Join(versions[:n-1], ", ") + " " + conjunction + " " + versions[n-1]
	default:
		return fmt.Sprintf("%s, %s, and %d more, down to %s", versions[0], versions[1], n-3, versions[n-1])
	}
}

// Code is Conflict, or NotFound if no version matches a requirement by itself.
func (e *ConflictError) Code() diag.Code {
	for _, d := range e.Disputes {
		if len(d.Chains) > 1 {
			return diag.Conflict
		}
	}
	for _, other := range e.Others {
		if other.Code() == diag.Conflict {
			return diag.Conflict
		}
	}
	return diag.NotFound
}

// Hint suggests a change of the manifest.
func (e *ConflictError) Hint() string {
	if len(e.Changes) > 0 {
		parts := make([]string, len(e.Changes))
		for i, c := range e.Changes {
			parts[i] = fmt.Sprintf("skillpm install %s@%s", c.Pack, c.Version)
		}
		return "select matching versions with: " + strings.Join(parts, ", or ")
	}
	if len(e.Removals) == 1 && len(e.Removals[0]) > 1 {
		return "change or remove " + textx.And(packNames(e.Removals[0])) + " in skillpm.yaml"
	}
	var of []string
	for _, set := range e.Removals {
		of = append(of, packNames(set)...)
	}
	if len(of) == 0 {
		of = packNames(e.rootRequirements())
	}
	return "change or remove " + strings.Join(of, " or ") + " in skillpm.yaml"
}

func packNames(list []Requirement) []string {
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = r.Pack.String()
	}
	return names
}
