package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newPrompt(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "prompt",
		Short:   "Print what an agent is told about the skills there are",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
