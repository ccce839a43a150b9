package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// MaxNotes limits the lines of one kind about the update of a pack, so that no kind hides others.
const MaxNotes = 20

// maxPath limits the bytes of a path in a line, so that a long path does not hide what follows it.
const maxPath = 120

// IncreaseLines returns the lines that show the capabilities that updates add: for each pack a heading, and a line for
// each capability and name with its first position.
func IncreaseLines(list []skillpm.Increase) (lines []string) {
	for _, increase := range list {
		lines = append(lines, NoteLine(increase.String()+" adds capabilities:"))
		kinds, width := groupFacts(increase.Capabilities), 0
		for _, facts := range kinds {
			width = max(width, len(facts[0].Capability))
		}
		for _, facts := range kinds {
			for i, f := range facts {
				f.Path = textx.Truncate(f.Path, maxPath)
				text := f.String()
				if f.more > 0 {
					text += ", and " + textx.Count(f.more, "more location")
				}
				if i == MaxNotes {
					text = fmt.Sprintf("… and %d more; show all with --json", len(facts)-i)
				}
				lines = append(lines, NoteLine(fmt.Sprintf("  ! %-*s  %s", width, f.Capability, text)))
				if i == MaxNotes {
					break
				}
			}
		}
	}
	return lines
}

// fact is a capability that an update adds, with the number of its other positions.
type fact struct {
	skillpm.CapabilityChange
	more int
}

// groupFacts returns the facts of each capability. It joins what several skills of a pack gain, such as the same secret,
// so that repetitions do not hide others. An allowed tool that also writes, for example, is one fact.
func groupFacts(list []skillpm.CapabilityChange) (kinds [][]*fact) {
	type group struct {
		capability policy.Capability
		name, why  string
	}
	texts, groups, index := map[string]bool{}, map[group]*fact{}, map[policy.Capability]int{}
	for _, c := range list {
		text := c.String()
		if texts[text] && c.Capability == policy.Tools {
			continue
		}
		texts[text] = true
		g := group{c.Capability, c.Name, c.Why}
		if f := groups[g]; f != nil {
			f.more++
			continue
		}
		groups[g] = &fact{CapabilityChange: c}
		i, known := index[c.Capability]
		if !known {
			i = len(kinds)
			index[c.Capability], kinds = i, append(kinds, nil)
		}
		kinds[i] = append(kinds[i], groups[g])
	}
	return kinds
}

// CapabilityNames returns the names of capabilities, each once.
func CapabilityNames(list []skillpm.CapabilityChange) string {
	var names []string
	for _, c := range list {
		if name := string(c.Capability); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// NoteLine converts a text to one printable line.
func NoteLine(s string) string {
	return textx.Truncate(strings.ReplaceAll(textdiff.Visible(s), "\n", " "), 300)
}

// AcceptIncreases asks the user on a terminal whether to update packs that gain capabilities, although a policy does not
// allow that without consent.
func (a *App) AcceptIncreases(list []skillpm.Increase) bool {
	if !a.CanAsk() {
		return false
	}
	lines := IncreaseLines(list)
	question := strings.Join(lines, "\n")
	if accepted, ok := a.increases[question]; ok { // another process changed the project, so the command started over
		return accepted
	}
	a.printIncreases(lines)
	const accept = "update"
	answer, err := a.PickOne(PickList{
		Title: "Update although this adds capabilities?",
		Note:  "A policy does not allow the update without your consent. Show all changes with: skillpm diff",
		Choices: []Choice{
			{Value: "stop", Text: "keep the locked versions"},
			{Value: accept, Text: "accept the capabilities"},
		},
	})
	if a.increases == nil {
		a.increases = map[string]bool{}
	}
	a.increases[question] = err == nil && answer == accept
	return a.increases[question]
}

// reportIncreases shows the capabilities below an error about updates that add them, unless the user has seen them.
func (a *App) reportIncreases(e *skillpm.IncreaseError) {
	lines := IncreaseLines(e.Increases)
	if _, asked := a.increases[strings.Join(lines, "\n")]; !asked && !a.Quiet && !a.JSON {
		a.printIncreases(lines)
	}
}

func (a *App) printIncreases(lines []string) {
	p, out := a.Palette(a.Stderr), a.Messages()
	for _, line := range lines {
		fmt.Fprintln(out, p.Yellow(line))
	}
}
