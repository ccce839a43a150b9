// Package author has the commands that create, publish, sign, and index packs.
package author

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

// app is [console.App] with the methods of this package.
type app struct{ *console.App }

// Commands returns the commands of this package.
func Commands() []console.Command {
	return []console.Command{
		{Name: "new", New: func(a *console.App) *cobra.Command { return newNew(&app{a}) }},
		{Name: "init", New: func(a *console.App) *cobra.Command { return newInit(&app{a}) }},
		{Name: "publish", New: func(a *console.App) *cobra.Command { return newPublish(&app{a}) }},
		{Name: "key", New: func(a *console.App) *cobra.Command { return newKey(&app{a}) }},
		{Name: "sign", New: func(a *console.App) *cobra.Command { return newSign(&app{a}) }},
		{Name: "yank", New: func(a *console.App) *cobra.Command { return newYank(&app{a}) }},
		{Name: "login", New: func(a *console.App) *cobra.Command { return newLogin(&app{a}) }},
		{Name: "logout", New: func(a *console.App) *cobra.Command { return newLogout(&app{a}) }},
		{Name: "index", New: func(a *console.App) *cobra.Command { return newIndex(&app{a}) }},
	}
}
