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
		{Name: "approvals", New: func(a *console.App) *cobra.Command { return newApprovals(&app{a}) }},
		{Name: "deny", New: func(a *console.App) *cobra.Command { return newDeny(&app{a}) }},
		{Name: "sync", New: func(a *console.App) *cobra.Command { return newSync(&app{a}) }},
		{Name: "audit", New: func(a *console.App) *cobra.Command { return newAudit(&app{a}) }},
	}
}
