package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// Need is a requirement and who has it.
type Need struct {
	By       pack.ID  // the zero ID for the root
	Versions []string // of By, that have it; highest first
	Requirement
	Fitting []string // the versions that it allows, highest first
}

// ConflictError says that no choice of versions meets all requirements.
type ConflictError struct {
	// Needs are requirements that exclude each other, and a smallest set of them: without any one the others could be
	// met. They are in order of the packs that have them.
	Needs []Need
	// Disputed are the packs that the conflict is about, with what leads to each: for every requirement of it the chain
	// of requirements from the root.
	Disputed []Dispute
	// Withheld are versions that nobody may take, and with which there would be a choice.
	Withheld []Withheld
	// Changes are requirements of the root that would end the conflict, each with a version that would do.
	Changes []Change
	// Remove are sets of requirements of the root. Without those of one set the rest can be met. They are looked for
	// when there are no Changes.
	Remove [][]Requirement
	// Others are conflicts that have nothing to do with this one and would stay when it is ended.
	Others []*ConflictError
}

// Dispute is a pack and the chains of requirements that lead to it.
type Dispute struct {
	Pack     pack.ID
	Versions []string   // all that may be taken, highest first
	Left     []string   // those of them that meet the requirements; the conflict is then about what these require
	Withheld []Withheld // versions that look as if they fitted and are not taken
	Chains   [][]Need
}

// Withheld is a version that is not taken, and why, as the end of a sentence.
type Withheld struct {
	Pack    pack.ID
	Version string
	Reason  string
}

// Change says that the root's requirement of a pack could be another version.
type Change struct {
	Pack    pack.ID
	Version string
}

// Error tells, a line for each chain, who requires what.
func (e *ConflictError) Error() string {
	var b strings.Builder
	e.write(&b)
	return strings.TrimSuffix(b.String(), "\n")
}

func (e *ConflictError) write(b *strings.Builder) {
	for i, d := range e.Disputed {
		if i == maxDisputes {
			fmt.Fprintf(b, "and %d more packs of which no version fits\n", len(e.Disputed)-i)
			break
		}
		d.write(b)
		for _, w := range d.Withheld {
			if !slices.Contains(e.Withheld, w) {
				fmt.Fprintf(b, "  %s %s\n", w.Version, w.Reason)
			}
		}
	}
	for _, w := range e.Withheld {
		fmt.Fprintf(b, "%s %s would do, but %s\n", w.Pack, w.Version, w.Reason)
	}
	for _, other := range e.Others {
		other.write(b)
	}
}

// An explanation shows at most so many packs, and so many chains for each.
const (
	maxDisputes = 8
	maxChains   = 8
)

func (d Dispute) write(b *strings.Builder) {
	b.WriteString(d.heading() + "\n")
	for i, chain := range d.Chains {
		if len(d.Chains) == 1 && len(chain) == 1 {
			continue // the heading says it
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
	case len(d.Left) > 0:
		return fmt.Sprintf("%s can only be %s", d.Pack, some(d.Left, "or"))
	case len(d.Chains) == 1 && len(d.Versions) == 0 && len(d.Withheld) > 0:
		return fmt.Sprintf("no version of %s may be taken", last.Requirement)
	case len(d.Chains) == 1 && len(d.Versions) == 0:
		return fmt.Sprintf("no version of %s: there is none", last.Requirement)
	case len(d.Chains) == 1:
		return fmt.Sprintf("no version of %s: there is %s", last.Requirement, some(d.Versions, "and"))
	case d.places() > 1:
		return fmt.Sprintf("%s is required from different places", d.Pack)
	default:
		return fmt.Sprintf("no version of %s meets every requirement", d.Pack)
	}
}

// lines says a chain, a clause for each requirement.
func (d Dispute) lines(chain []Need) []string {
	places := d.places() > 1
	lines := make([]string, len(chain))
	for i, n := range chain {
		lines[i] = n.String()
		last := i == len(chain)-1
		switch {
		case last && places && n.Source == "":
			lines[i] += " from a registry"
		case last && len(d.Chains) > 1 && !places:
			lines[i] += fits(n.Fitting)
		case !last && len(chain[i+1].Versions) < len(n.Fitting):
			lines[i] += fits(n.Fitting) // the others are another branch
		}
	}
	return lines
}

func fits(versions []string) string {
	switch len(versions) {
	case 0:
		return " (none fits)"
	case 1:
		return fmt.Sprintf(" (%s fits)", versions[0])
	default:
		return fmt.Sprintf(" (%s fit)", some(versions, "and"))
	}
}

// places counts the sources that the requirements name.
func (d Dispute) places() int {
	places := make(map[string]bool)
	for _, chain := range d.Chains {
		places[chain[len(chain)-1].Source] = true
	}
	return len(places)
}

// String says who requires what, as a clause.
func (n Need) String() string {
	switch {
	case n.By.IsZero():
		return fmt.Sprintf("skillpm.yaml requires %s", n.Requirement)
	case len(n.Versions) == 1:
		return fmt.Sprintf("%s %s requires %s", n.By, n.Versions[0], n.Requirement)
	default:
		return fmt.Sprintf("%s %s require %s", n.By, some(n.Versions, "and"), n.Requirement)
	}
}

// some lists versions, and counts those that are too many to list.
func some(versions []string, and string) string {
	switch n := len(versions); {
	case n == 0:
		return "no version"
	case n == 1:
		return versions[0]
	case n <= 4:
		return strings.Join(versions[:n-1], ", ") + " " + and + " " + versions[n-1]
	default:
		return fmt.Sprintf("%s, %s and %d more down to %s", versions[0], versions[1], n-3, versions[n-1])
	}
}

// Code is Conflict, or NotFound when nobody disagrees and the version that is wanted does not exist.
func (e *ConflictError) Code() diag.Code {
	for _, d := range e.Disputed {
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

// Hint says what to change.
func (e *ConflictError) Hint() string {
	if len(e.Changes) > 0 {
		parts := make([]string, len(e.Changes))
		for i, c := range e.Changes {
			parts[i] = fmt.Sprintf("skillpm install %s@%s", c.Pack, c.Version)
		}
		return "this would fit: " + strings.Join(parts, ", or ")
	}
	if len(e.Remove) == 1 && len(e.Remove[0]) > 1 {
		return "change or remove the requirements of " + textx.And(packs(e.Remove[0])) + " in skillpm.yaml"
	}
	var of []string
	for _, set := range e.Remove {
		of = append(of, packs(set)...)
	}
	if len(of) == 0 {
		of = packs(e.ofRoot())
	}
	return "change or remove the requirement of " + strings.Join(of, " or of ") + " in skillpm.yaml"
}

func packs(list []Requirement) []string {
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = r.Pack.String()
	}
	return names
}
