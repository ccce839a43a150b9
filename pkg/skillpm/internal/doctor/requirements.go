package doctor

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// checkRequirements checks whether the machine meets the requirements of the manifest, the packs, and the installed
// skills.
func checkRequirements(x *exam) {
	if missing := x.ws.Unmet(x.ws.Manifest.Requires); len(missing) > 0 {
		x.reportMissing(scope.ManifestName, scope.ManifestName, missing)
	}
	for _, id := range x.ws.Lock.IDs() {
		missing := x.ws.Unmet(skill.ParseRequirements(x.ws.Lock.Packs[id].Needs))
		if len(missing) > 0 {
			x.reportMissing("", id.String(), missing)
		}
	}
	unmet := 0
	for _, n := range x.layout.Named {
		if x.layout.Denial(n.Pack, n.Skill) != nil {
			continue
		}
		missing := x.ws.Missing(n.Pack, n.Skill, nil)
		if len(missing) == 0 {
			continue
		}
		if unmet++; unmet <= maxFindings {
			x.reportMissing("", n.Skill+"@"+n.Pack.String(), missing)
		}
	}
	if unmet > maxFindings {
		x.warn("", textx.Count(unmet-maxFindings, "more skill")+" with missing requirements", "",
			"apply the fixes of the other skills first")
	}
}

// reportMissing reports missing requirements. MCP servers alone are a note, because skillpm cannot know those of every
// agent.
func (x *exam) reportMissing(path, subject string, missing []skill.Missing) {
	report := x.warn
	if !slices.ContainsFunc(missing, func(m skill.Missing) bool { return m.Kind != skill.RequiresMCP }) {
		report = x.advise
	}
	names, hints := skill.DescribeMissing(missing)
	report(path, subject+" requires "+names, "skills may not work on this machine", hints)
}
