package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newRun(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "run SKILL [ARGS...]",
		Short:   "Run a skill's command or script",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
