package install

import (
	"context"
	"fmt"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// manySkills is the number of skills above which doctor recommends looking for unused skills.
const manySkills = 50

// examineUsage notes that an agent sees many skills. Problems of the skills themselves are those of "skillpm skills".
func (a *app) examineUsage(ctx context.Context, r *skillpm.DoctorReport) {
	h, err := a.Host(ctx, &console.RuntimeFlags{})
	if err != nil {
		return // other checks report settings that cannot be read
	}
	c, err := h.Catalog(ctx)
	if err != nil {
		return
	}
	r.Checks++
	if n := len(c.Skills()); n > manySkills {
		r.Findings = append(r.Findings, skillpm.Diagnosis{
			Check: "many-skills", Severity: diag.SeverityNote,
			Message: fmt.Sprintf("%d skills are available", n),
			Effect:  "each takes a part of the context, and models choose less reliably among many skills",
			Fix:     "list unused and overlapping skills: run \"skillpm skills --unused\" and \"skillpm skills --overlaps\"",
		})
	}
}
