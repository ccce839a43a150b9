package cli

import "github.com/spf13/cobra"

func newDeny(_ *app) *cobra.Command {
	return &cobra.Command{Use: "deny", Short: "Disable a skill everywhere at once", GroupID: "govern", RunE: unknownCommand}
}
