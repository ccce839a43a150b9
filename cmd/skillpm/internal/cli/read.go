package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newRead(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "read SKILL FILE",
		Short:   "Print a file of a skill",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
