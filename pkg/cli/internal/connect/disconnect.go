package connect

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

func newDisconnect(a *app) *cobra.Command {
	o := &connectFlags{}
	cmd := &cobra.Command{
		Use:   "disconnect [AGENT...]",
		Short: "Disconnect agents from skillpm",
		Long: `The command removes the links, hooks, and MCP servers that "skillpm connect" added. If a
file has not changed since "skillpm connect" ran, the command restores the exact previous
content. From changed files, the command removes only the hooks and MCP servers of skillpm.
Without --scope, the command covers all scopes except machine.`,
		Example: `  skillpm disconnect claude-code
  skillpm disconnect --all --dry-run
  skillpm disconnect codex --scope user`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.disconnect(cmd.Context(), o, args)
		},
		ValidArgsFunction: completeAgents,
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "disconnect all connected agents")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change, without changing it")
	a.connectScopeFlag(cmd, &o.scope)
	return cmd
}

// disconnect removes what connect added.
func (a *app) disconnect(ctx context.Context, o *connectFlags, ids []string) error {
	e, err := a.attachEnv(false)
	if err != nil {
		return err
	}
	agents, err := a.chosenAgents(o, e, ids, "disconnect", a.connectedAgents)
	if err != nil {
		return err
	}
	results := []*connected{}
	var failed error
	for _, h := range agents {
		for _, in := range scopesOf(h, connect.Hook, connect.MCP) {
			if o.scope != "" && in != connect.Scope(o.scope) || o.scope == "" && in == connect.Enterprise ||
				e.Project == "" && in == connect.Project {
				continue
			}
			c := &connected{Agent: h.ID, Title: h.Title}
			for _, kind := range []connect.Kind{connect.Hook, connect.MCP} {
				if !h.HasScope(kind, in) {
					continue
				}
				r, err := connect.Remove(ctx, e, connect.Options{Kind: kind, Agent: h, Scope: in, DryRun: o.dryRun})
				if err != nil {
					failed = a.keepFirst(failed, err)
				} else if r.Changed {
					c.set(kind, r)
				}
			}
			if len(c.results()) > 0 {
				results = append(results, c)
			}
		}
	}
	for _, in := range []string{scope.KindProject, scope.KindUser} {
		if failed != nil || o.scope != "" && o.scope != in {
			continue
		}
		var linked *links
		if linked, failed = a.openLinks(ctx, e, in); linked != nil {
			results, failed = linked.remove(ctx, o.dryRun, agents, results)
		}
	}
	return a.printConnected(o, e, results, failed, false)
}
