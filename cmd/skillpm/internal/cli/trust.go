package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newTrust(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "trust [DIR]",
		Short:   "Trust the skills of a folder",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
