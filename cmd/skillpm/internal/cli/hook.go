package cli

import "github.com/spf13/cobra"

func newHook(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "hook", Short: "Answer the hooks of agents", GroupID: "serve", RunE: unknownCommand}
	cmd.AddCommand(newHookInstall(a), newHookRemove(a), newHookStatus(a))
	return cmd
}
