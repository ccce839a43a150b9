package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newProfile(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "profile",
		Short:   "Show the dialects of agents, and add your own",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
