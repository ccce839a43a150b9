// Package serve has the commands that serve skills to agents and models: catalog, activation, sessions, tasks, tests.
package serve

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

// app is [console.App] with the methods of this package.
type app struct{ *console.App }

// Commands returns the commands of this package.
func Commands() []console.Command {
	return []console.Command{
		{Name: "prompt", New: func(a *console.App) *cobra.Command { return newPrompt(&app{a}) }},
		{Name: "find", New: func(a *console.App) *cobra.Command { return newFind(&app{a}) }},
		{Name: "load", New: func(a *console.App) *cobra.Command { return newLoad(&app{a}) }},
		{Name: "read", New: func(a *console.App) *cobra.Command { return newRead(&app{a}) }},
		{Name: "run", New: func(a *console.App) *cobra.Command { return newRun(&app{a}) }},
		{Name: "deactivate", New: func(a *console.App) *cobra.Command { return newDeactivate(&app{a}) }},
		{Name: "message", New: func(a *console.App) *cobra.Command { return newMessage(&app{a}) }},
		{Name: "session", New: func(a *console.App) *cobra.Command { return newSession(&app{a}) }},
		{Name: "task", New: func(a *console.App) *cobra.Command { return newTask(&app{a}) }},
		{Name: "dispatch", New: func(a *console.App) *cobra.Command { return newDispatch(&app{a}) }},
		{Name: "skills", New: func(a *console.App) *cobra.Command { return newSkills(&app{a}) }},
		{Name: "which", New: func(a *console.App) *cobra.Command { return newWhich(&app{a}) }},
		{Name: "profile", New: func(a *console.App) *cobra.Command { return newProfile(&app{a}) }},
		{Name: "test", New: func(a *console.App) *cobra.Command { return newTest(&app{a}) }},
	}
}
