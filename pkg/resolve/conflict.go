package resolve

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/source"
)

// Need is a requirement and who has it.
type Need struct {
	By       source.ID // the zero ID for the root
	Versions []string  // of By, that have it; highest first
	Requirement
	Fitting []string // the versions that it allows, highest first
}

// ConflictError says that no choice of versions meets all requirements.
type ConflictError struct {
	// Needs are requirements that exclude each other, and a smallest set of them: without any one the others could be
	// met. They are in order of the packs that have them.
	Needs []Need
	// Disputed are the packs of which no version is left, with what leads to each: for every requirement of it the
	// chain of requirements from the root.
	Disputed []Dispute
	// Changes are requirements of the root that would end the conflict, each with a version that would do.
	Changes []Change
}

// Dispute is a pack and the chains of requirements that lead to it.
type Dispute struct {
	Pack     source.ID
	Versions []string // all that there are, highest first
	Withheld []string // sentences about versions that would fit and are not taken
	Chains   [][]Need
}

// Change says that the root's requirement of a pack could be another version.
type Change struct {
	Pack    source.ID
	Version string
}

// Error tells, a line for each chain, who requires what.
func (e *ConflictError) Error() string {
	var b strings.Builder
	for i, d := range e.Disputed {
		if i > 0 {
			b.WriteString("\n")
		}
		d.write(&b)
	}
	return b.String()
}

func (d Dispute) write(b *strings.Builder) {
	single := len(d.Chains) == 1
	if single {
		last := d.Chains[0][len(d.Chains[0])-1]
		fmt.Fprintf(b, "no version of %s", last.Requirement)
	} else if d.places() > 1 {
		fmt.Fprintf(b, "%s is required from different places", d.Pack)
	} else {
		fmt.Fprintf(b, "no version of %s meets every requirement", d.Pack)
	}
	if len(d.Versions) == 0 {
		b.WriteString(": it has none")
	} else if single {
		fmt.Fprintf(b, ": there is %s", some(d.Versions))
	}
	for _, chain := range d.Chains {
		if single && len(chain) == 1 {
			continue
		}
		parts := make([]string, len(chain))
		for i, n := range chain {
			parts[i] = n.String()
		}
		b.WriteString("\n  " + strings.Join(parts, ", "))
		if last := chain[len(chain)-1]; !single {
			fmt.Fprintf(b, " (%s)", some(last.Fitting))
		}
	}
	for _, line := range d.Withheld {
		b.WriteString("\n  " + line)
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
		return fmt.Sprintf("%s %s require %s", n.By, some(n.Versions), n.Requirement)
	}
}

// some lists versions, and counts those that are too many to list.
func some(versions []string) string {
	switch n := len(versions); {
	case n == 0:
		return "no version"
	case n == 1:
		return versions[0]
	case n <= 4:
		return strings.Join(versions[:n-1], ", ") + " and " + versions[n-1]
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
	var packs []string
	for _, n := range e.Needs {
		if n.By.IsZero() {
			packs = append(packs, n.Pack.String())
		}
	}
	return "change or remove the requirement of " + strings.Join(packs, " or of ") + " in skillpm.yaml"
}
