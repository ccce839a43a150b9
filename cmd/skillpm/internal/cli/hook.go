package cli

import "github.com/spf13/cobra"

func newHook(_ *app) *cobra.Command {
	return &cobra.Command{Use: "hook", Short: "Answer the hooks of agents", GroupID: "serve", RunE: unknownCommand}
}
