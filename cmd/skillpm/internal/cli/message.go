package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newMessage(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "message TEXT",
		Short:   "Turn what a user typed into what the model is sent",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
