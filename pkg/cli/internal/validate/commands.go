// Package validate has the commands that validate skills and explain rules.
package validate

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

// app is [console.App] with the methods of this package.
type app struct{ *console.App }

// Commands returns the commands of this package.
func Commands() []console.Command {
	return []console.Command{
		{Name: "validate", New: func(a *console.App) *cobra.Command { return newValidate(&app{a}) }},
		{Name: "explain", New: func(a *console.App) *cobra.Command { return newExplain(&app{a}) }},
		{Name: "schema", New: func(a *console.App) *cobra.Command { return newSchema(&app{a}) }},
		{Name: "lsp", New: func(a *console.App) *cobra.Command { return newLSP(&app{a}) }},
	}
}
