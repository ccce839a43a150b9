// Package install has the commands that install, list, and check packs.
package install

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

// app is [console.App] with the methods of this package.
type app struct{ *console.App }

// Commands returns the commands of this package.
func Commands() []console.Command {
	return []console.Command{
		{Name: "search", New: func(a *console.App) *cobra.Command { return newSearch(&app{a}) }},
		{Name: "install", New: func(a *console.App) *cobra.Command { return newInstall(&app{a}) }},
		{Name: "update", New: func(a *console.App) *cobra.Command { return newUpdate(&app{a}) }},
		{Name: "outdated", New: func(a *console.App) *cobra.Command { return newOutdated(&app{a}) }},
		{Name: "audit", New: func(a *console.App) *cobra.Command { return newAudit(&app{a}) }},
		{Name: "diff", New: func(a *console.App) *cobra.Command { return newDiff(&app{a}) }},
		{Name: "import", New: func(a *console.App) *cobra.Command { return newImport(&app{a}) }},
		{Name: "try", New: func(a *console.App) *cobra.Command { return newTry(&app{a}) }},
		{Name: "remove", New: func(a *console.App) *cobra.Command { return newRemove(&app{a}) }},
		{Name: "list", New: func(a *console.App) *cobra.Command { return newList(&app{a}) }},
		{Name: "info", New: func(a *console.App) *cobra.Command { return newInfo(&app{a}) }},
		{Name: "tree", New: func(a *console.App) *cobra.Command { return newTree(&app{a}) }},
		{Name: "why", New: func(a *console.App) *cobra.Command { return newWhy(&app{a}) }},
		{Name: "verify", New: func(a *console.App) *cobra.Command { return newVerify(&app{a}) }},
		{Name: "vendor", New: func(a *console.App) *cobra.Command { return newVendor(&app{a}) }},
		{Name: "cache", New: func(a *console.App) *cobra.Command { return newCache(&app{a}) }},
		{Name: "config", New: func(a *console.App) *cobra.Command { return newConfig(&app{a}) }},
		{Name: "doctor", New: func(a *console.App) *cobra.Command { return newDoctor(&app{a}) }},
		{Name: "registry", New: func(a *console.App) *cobra.Command { return newRegistry(&app{a}) }},
		{Name: "link", New: func(a *console.App) *cobra.Command { return newLink(&app{a}) }},
	}
}
