package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newTask(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "task",
		Short:   "Run skills as isolated tasks",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
