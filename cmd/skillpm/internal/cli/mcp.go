package cli

import "github.com/spf13/cobra"

func newMCP(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "mcp", Short: "Serve skills over the Model Context Protocol", GroupID: "serve", RunE: unknownCommand}
	cmd.AddCommand(newMCPInstall(a), newMCPRemove(a), newMCPStatus(a))
	return cmd
}
