package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newDeploy(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "deploy DIR",
		Short:   "Copy a skill into a layer",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
