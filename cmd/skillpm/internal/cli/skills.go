package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

func newSkills(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:     "skills",
		Short:   "List the skills in force, in their layers",
		GroupID: "serve",
		RunE: func(*cobra.Command, []string) error {
			return diag.Errorf(diag.Internal, "not there yet")
		},
	}
}
