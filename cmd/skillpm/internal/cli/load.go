package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newLoad(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "load SKILL [ARGS...]",
		Short:   "Activate a skill and print its instructions",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
