package doctor

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// checkRequirements compares what the installed skills declare as required with the machine. MCP servers alone are a
// note, because skillpm cannot know those of every agent.
func checkRequirements(x *exam) {
	unmet := 0
	for _, n := range x.layout.Named {
		if x.layout.Denial(n.Pack, n.Skill) != nil {
			continue
		}
		missing := x.ws.Missing(n.Pack, n.Skill)
		if len(missing) == 0 {
			continue
		}
		if unmet++; unmet > maxFindings {
			continue
		}
		report := x.warn
		if !slices.ContainsFunc(missing, func(m skill.Missing) bool { return m.Kind != skill.RequiresMCP }) {
			report = x.advise
		}
		names, hints := skill.DescribeMissing(missing)
		report("", n.Skill+"@"+n.Pack.String()+" requires "+names, "the skill may not work on this machine", hints)
	}
	if unmet > maxFindings {
		x.warn("", textx.Count(unmet-maxFindings, "more skill")+" with missing requirements", "",
			"apply the fixes of the other skills first")
	}
}
