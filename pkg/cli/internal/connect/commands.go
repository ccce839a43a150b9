// Package connect has the commands that connect skillpm to agents: MCP server, hooks.
package connect

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

// app is [console.App] with the methods of this package.
type app struct{ *console.App }

// Commands returns the commands of this package.
func Commands() []console.Command {
	return []console.Command{
		{Name: "connect", New: func(a *console.App) *cobra.Command { return newConnect(&app{a}) }},
		{Name: "disconnect", New: func(a *console.App) *cobra.Command { return newDisconnect(&app{a}) }},
		{Name: "agents", New: func(a *console.App) *cobra.Command { return newAgents(&app{a}) }},
		{Name: "budget", New: func(a *console.App) *cobra.Command { return newBudget(&app{a}) }},
		{Name: "mcp", New: func(a *console.App) *cobra.Command { return newMCP(&app{a}) }},
		{Name: "hook", New: func(a *console.App) *cobra.Command { return newHook(&app{a}) }},
	}
}
