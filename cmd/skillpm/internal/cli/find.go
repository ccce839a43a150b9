package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newFind(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "find TASK...",
		Short:   "Find the skills that fit a task",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
