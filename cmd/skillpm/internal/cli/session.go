package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newSession(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "session",
		Short:   "Look at what is active in a session, and ask what may be called",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
