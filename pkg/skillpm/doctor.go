package skillpm

import (
	"context"

	"github.com/skillpm/skillpm/pkg/skillpm/internal/doctor"
)

// What [Client.Doctor] is asked, and what it finds.
type (
	DoctorOptions = doctor.Options
	DoctorReport  = doctor.Report
	Diagnosis     = doctor.Diagnosis
	Fact          = doctor.Fact
)

// Doctor looks for what is wrong with the project, with what is installed for the user, and with the machine. It changes
// nothing, and uses no network unless the options want that.
func (c *Client) Doctor(ctx context.Context, o DoctorOptions) (*DoctorReport, error) {
	defer c.Progress(Event{Done: true})
	return doctor.Run(ctx, c.Base, o, CacheUnused)
}

// Homeless is the report if not even the home directory is known, so that nothing else can be looked at.
func Homeless(err error) *DoctorReport { return doctor.Homeless(err) }
