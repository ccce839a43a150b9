package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newDispatch(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "dispatch LINE",
		Short:   "Execute one line of the dispatch protocol",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
