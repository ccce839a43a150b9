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

// IncreaseLines returns the lines that show the capabilities that updates add: for each pack a heading, and a line with
// the position of each capability.
func IncreaseLines(list []skillpm.Increase) (lines []string) {
	for _, increase := range list {
		lines = append(lines, NoteLine(increase.String()+" adds capabilities:"))
		kinds, width, seen := map[policy.Capability][]string{}, 0, map[string]bool{}
		var order []policy.Capability
		for _, c := range increase.Capabilities {
			text := c.String()
			if seen[text] && c.Capability == policy.Tools { // an allowed tool that also writes, for example
				continue
			}
			if seen[text] = true; kinds[c.Capability] == nil {
				order, width = append(order, c.Capability), max(width, len(c.Capability))
			}
			c.Path = textx.Truncate(c.Path, maxPath)
			kinds[c.Capability] = append(kinds[c.Capability], c.String())
		}
		for _, kind := range order {
			for i, text := range kinds[kind] {
				if i == MaxNotes {
					text = fmt.Sprintf("… and %d more", len(kinds[kind])-i)
				}
				lines = append(lines, NoteLine(fmt.Sprintf("  ! %-*s  %s", width, kind, text)))
				if i == MaxNotes {
					break
				}
			}
		}
	}
	return lines
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
	lines := IncreaseLines(list)
	question := strings.Join(lines, "\n")
	if !a.CanAsk() {
		return false
	}
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
	p := a.Palette(a.Stderr)
	for _, line := range lines {
		fmt.Fprintln(a.Stderr, p.Yellow(line))
	}
}
