package console

import "github.com/spf13/cobra"

// Command creates a top-level command.
type Command struct {
	Name string
	New  func(*App) *cobra.Command
}
