package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newDeactivate(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "deactivate [SKILL]",
		Short:   "End a skill and give its tools back",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
