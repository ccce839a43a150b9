package cli

import "github.com/spf13/cobra"

func newPolicy(_ *app) *cobra.Command {
	return &cobra.Command{Use: "policy", Short: "Say what the policies allow", GroupID: "govern", RunE: unknownCommand}
}
