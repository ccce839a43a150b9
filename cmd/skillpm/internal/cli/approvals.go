package cli

import "github.com/spf13/cobra"

func newApprovals(_ *app) *cobra.Command {
	return &cobra.Command{Use: "approvals", Short: "List what was approved", GroupID: "govern", RunE: unknownCommand}
}
