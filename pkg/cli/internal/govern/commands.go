// Package govern has the commands for policies, approvals, the enterprise layer, and the audit log.
package govern

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

// app is [console.App] with the methods of this package.
type app struct{ *console.App }

// Commands returns the commands of this package.
func Commands() []console.Command {
	return []console.Command{
		{Name: "trust", New: func(a *console.App) *cobra.Command { return newTrust(&app{a}) }},
		{Name: "deploy", New: func(a *console.App) *cobra.Command { return newDeploy(&app{a}) }},
		{Name: "policy", New: func(a *console.App) *cobra.Command { return newPolicy(&app{a}) }},
		{Name: "approve", New: func(a *console.App) *cobra.Command { return newApprove(&app{a}) }},
		{Name: "deny", New: func(a *console.App) *cobra.Command { return newDeny(&app{a}) }},
		{Name: "enterprise", New: func(a *console.App) *cobra.Command { return newEnterprise(&app{a}) }},
		{Name: "log", New: func(a *console.App) *cobra.Command { return newLog(&app{a}) }},
	}
}
