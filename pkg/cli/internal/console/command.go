package console

import "github.com/spf13/cobra"

// Command makes one command of the top level.
type Command struct {
	Name string
	New  func(*App) *cobra.Command
}
