package install

import (
	"fmt"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// shownName returns a skill's name with the name that agents see, and the one that they saw before.
func shownName(p console.Palette, s skillpm.SkillReport) string {
	switch {
	case s.PreviousLink != "":
		return s.PreviousLink + " → " + p.Yellow(s.Link)
	case s.Link != s.Name:
		return s.Name + " " + p.Yellow("as "+s.Link)
	}
	return s.Name
}

// countRenamed counts the skills that agents see under another name than before.
func countRenamed(packs []skillpm.PackReport) (n int) {
	for _, pack := range packs {
		for _, s := range pack.Skills {
			if s.PreviousLink != "" {
				n++
			}
		}
	}
	return n
}

// printNewOwners prints which skills have their bare name now, and which had it before. A newly installed skill that
// takes a name is in a warning instead.
func (a *app) printNewOwners(r *skillpm.InstallReport) {
	for _, pack := range r.Packs {
		for _, s := range pack.Skills {
			if s.PreviousLink == "" || s.Link != s.Name {
				continue
			}
			before := ""
			if owner := previousOwner(r.Packs, s.Name); owner != "" {
				before = fmt.Sprintf(" instead of the skill of %s", owner)
			}
			fmt.Fprintf(a.Stdout, "  %s now refers to the skill of %s%s\n", s.Name, pack.Pack, before)
		}
	}
}

// previousOwner returns the pack whose skill agents saw under a name before, "" if none of the packs.
func previousOwner(packs []skillpm.PackReport, name string) string {
	for _, pack := range packs {
		for _, s := range pack.Skills {
			if s.PreviousLink == name {
				return pack.Pack
			}
		}
	}
	return ""
}

// denial describes what the policies deny of a pack with a number of skills, "" for nothing.
func denial(d skillpm.PackDenial, skills int) string {
	switch {
	case d.Denied != "":
		return "denied: " + d.Denied
	case len(d.DeniedSkills) > 0:
		return fmt.Sprintf("%d of %s denied: %s", len(d.DeniedSkills), textx.Count(skills, "skill"),
			strings.Join(d.DeniedSkills, ", "))
	}
	return ""
}
