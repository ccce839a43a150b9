package cli

import "github.com/spf13/cobra"

func newSync(_ *app) *cobra.Command {
	return &cobra.Command{Use: "sync", Short: "Keep the enterprise layer in step with its source", GroupID: "govern", RunE: unknownCommand}
}
