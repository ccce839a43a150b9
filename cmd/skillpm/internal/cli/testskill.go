package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newTest(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "test [DIR...]",
		Short:   "Run the tests of skills",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
