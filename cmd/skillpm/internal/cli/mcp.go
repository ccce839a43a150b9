package cli

import "github.com/spf13/cobra"

func newMCP(_ *app) *cobra.Command {
	return &cobra.Command{Use: "mcp", Short: "Serve skills over the Model Context Protocol", GroupID: "serve", RunE: unknownCommand}
}
