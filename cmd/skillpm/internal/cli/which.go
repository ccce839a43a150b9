package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newWhich(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "which NAME",
		Short:   "Tell which skill a name means, and who is shadowed",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
