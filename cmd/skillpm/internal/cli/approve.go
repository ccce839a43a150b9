package cli

import "github.com/spf13/cobra"

func newApprove(_ *app) *cobra.Command {
	return &cobra.Command{Use: "approve", Short: "Approve what a policy wants approved", GroupID: "govern", RunE: unknownCommand}
}
