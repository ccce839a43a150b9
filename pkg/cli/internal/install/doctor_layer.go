package install

import (
	"fmt"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// staleSync is the age of the last sync of the enterprise layer from which doctor reports it.
const staleSync = 7 * 24 * time.Hour

// examineLayer adds findings about the enterprise layer's synchronization. It does not check skills, unlike "enterprise
// sync --check".
func (a *app) examineLayer(r *skillpm.DoctorReport) error {
	o, err := a.Options()
	if err != nil {
		return err
	}
	c := skillpm.NewEnterpriseLayer(o)
	defer c.Close()
	s, err := c.LastSync()
	r.Checks++
	found := skillpm.Diagnosis{
		Check: "enterprise-layer", Severity: diag.SeverityWarning, Path: c.Paths.Enterprise,
		Fix: "sudo skillpm enterprise sync",
	}
	switch {
	case err != nil:
		found.Severity, found.Message, found.Fix = diag.SeverityError, err.Error(), diag.HintOf(err)
		found.Effect = "\"skillpm enterprise sync\" fails until you fix the problem"
	case s == nil:
		return nil
	case s.Version == "":
		found.Message, found.Effect = "skillpm has never synced the enterprise layer with "+s.Source,
			"the skills and the policy of the organization may be missing"
	default:
		since := time.Duration(s.Age) * time.Second
		r.Facts = append(r.Facts, skillpm.Fact{
			Name:  "enterprise layer",
			Value: fmt.Sprintf("%s %s, synced %s ago", s.Source, s.Version, console.Span(since)),
		})
		if since < staleSync {
			return nil
		}
		found.Message = fmt.Sprintf("skillpm last synced the enterprise layer with %s %d days ago", s.Source,
			int(since.Hours())/24)
		found.Effect = "newer skills and denials may be missing; check the timer that runs the sync"
	}
	r.Findings = append(r.Findings, found)
	return nil
}
