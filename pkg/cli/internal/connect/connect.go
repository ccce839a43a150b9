package connect

import (
	"cmp"
	"context"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// connectFlags are the flags of connect and disconnect.
type connectFlags struct {
	all, dryRun, force bool
	noHooks, noMCP     bool
	scope, command     string

	failClosed *bool    // nil: unchanged
	args       []string // of the MCP server; nil: unchanged
}

func newConnect(a *app) *cobra.Command {
	o := &connectFlags{}
	var closed bool
	cmd := &cobra.Command{
		Use:   "connect [AGENT...] [-- ARG...]",
		Short: "Connect agents to skillpm",
		Long: `For each agent, the command links the installed skills, adds hooks that enforce what skills
and policies allow, and adds the MCP server "skillpm mcp". The command skips parts that
the agent does not support, and keeps other content of the agent's files, including comments. A
second run changes nothing.

In the default scope, project, the command writes to files that all users of the repository
share. These files contain the name skillpm instead of a path, so skillpm must be on PATH.
In other scopes, the files contain the path of skillpm. If an agent does not support the
scope project, the command uses the first scope of the agent.

If skillpm is missing, slow, or fails, OpenCode and Claude Code (version 2.1.330 or newer) deny
tool calls, and most other agents make them. With --fail-closed, which is the default in the
scope machine, all agents deny them. With --fail-closed=false, skillpm does not make any agent
deny them.

The command reports why an agent ignores what it wrote, such as a comment in a file in which
the agent does not allow comments.

The agent passes arguments after -- to "skillpm mcp". A later run without -- keeps these
arguments.`,
		Example: `  skillpm connect claude-code --dry-run
  skillpm connect claude-code codex
  skillpm connect --all
  skillpm connect codex --scope user
  skillpm connect claude-code -- --upstream-config servers.json
  skillpm disconnect claude-code`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				o.args = append([]string{}, args[dash:]...) // not nil, even if empty
				if err := a.serverArgs(o.args); err != nil {
					return err
				}
				args = args[:dash]
			}
			if cmd.Flags().Changed("fail-closed") {
				if o.failClosed = &closed; closed && a.OS == "windows" {
					return diag.Errorf(diag.Usage,
						"--fail-closed needs a POSIX shell, which agents on Windows do not have")
				}
			}
			return a.connect(cmd.Context(), o, args)
		},
		ValidArgsFunction: completeAgents,
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "connect all detected agents")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would change, without changing it")
	f.BoolVar(&o.noHooks, "no-hooks", false, "do not add hooks")
	f.BoolVar(&o.noMCP, "no-mcp", false, "do not add the MCP server")
	a.connectScopeFlag(cmd, &o.scope)
	f.BoolVar(&closed, "fail-closed", false, "make the agent deny tool calls if skillpm is missing or fails")
	f.BoolVar(&o.force, "force", false, "replace an MCP server named skillpm that starts another program")
	f.StringVar(&o.command, "command", "", "make agents start `PROGRAM` instead of the path of this program")
	return cmd
}

func completeAgents(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	names := slices.DeleteFunc(agent.IDs(), func(id string) bool { return slices.Contains(args, id) })
	return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// connectScopes are the values of --scope.
var connectScopes = []string{"project", "user", "machine"}

func (a *app) connectScopeFlag(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "scope", "", "use `SCOPE`: project, user, or machine")
	a.CompleteFlag(cmd, "scope", cobra.FixedCompletions(connectScopes, cobra.ShellCompDirectiveNoFileComp))
}

// scopeFor returns the requested scope, or the agent's default, and whether the agent has it.
func (o *connectFlags) scopeFor(h connect.Agent, kind connect.Kind) (connect.Scope, bool) {
	scopes := h.Scopes(kind)
	switch {
	case o.scope != "":
		return connect.Scope(o.scope), slices.Contains(scopes, connect.Scope(o.scope))
	case len(scopes) == 0:
		return "", false
	case slices.Contains(scopes, connect.Project):
		return connect.Project, true
	}
	return scopes[0], true
}

// connect connects agents. It continues with the others after an error.
func (a *app) connect(ctx context.Context, o *connectFlags, ids []string) error {
	e, err := a.attachEnv(o.scope == "" || o.scope == scope.KindProject)
	if err != nil {
		return err
	}
	agents, err := a.chosenAgents(o, e, ids, "connect", a.offeredAgents)
	if err != nil {
		return err
	}
	a.NoteUnlessEmpty(a.NewProjectNote(cmp.Or(o.scope, scope.KindProject)))
	results := []*connected{}
	for _, h := range agents {
		results = append(results, &connected{Agent: h.ID, Title: h.Title})
	}
	// Open the links first: connectOne writes files that show that an agent is in use.
	linked, failed := a.openLinks(ctx, e, installScope(o.scope))
	for i, h := range agents {
		failed = a.keepFirst(failed, a.connectOne(ctx, o, e, h, results[i]))
	}
	switch {
	case linked != nil:
		failed = a.keepFirst(failed, linked.add(ctx, o.dryRun, results))
	case failed == nil && len(results) > 0 && (installScope(o.scope) == scope.KindUser || e.Project != ""):
		a.Note("No skills are linked, because no packs are installed. Add a pack with: skillpm install OWNER/NAME")
	}
	return a.printConnected(o, e, results, failed, true)
}

// keepFirst returns the first of two errors, and prints the second one.
func (a *app) keepFirst(first, second error) error {
	if first != nil && second != nil {
		a.Warn("%v", second)
		return first
	}
	if first != nil {
		return first
	}
	return second
}

// connectOne adds the hooks and the MCP server of one agent.
func (a *app) connectOne(
	ctx context.Context, o *connectFlags, e connect.Env, h connect.Agent, c *connected,
) error {
	var failed error
	for _, kind := range []connect.Kind{connect.Hook, connect.MCP} {
		in, ok := o.scopeFor(h, kind)
		if !ok || kind == connect.Hook && o.noHooks || kind == connect.MCP && o.noMCP {
			continue
		}
		one := connect.Options{
			Kind: kind, Agent: h, Scope: in, DryRun: o.dryRun, Force: o.force, FailClosed: o.failClosed, Args: o.args,
		}
		r, err := a.addEntry(ctx, o, e, one)
		if err != nil {
			failed = a.keepFirst(failed, err)
			continue
		}
		c.set(kind, r)
	}
	return failed
}

func (c *connected) set(kind connect.Kind, r *connect.Result) {
	if kind == connect.Hook {
		c.Hooks = r
	} else {
		c.MCP = r
	}
}

// addEntry adds the hooks or the MCP server.
func (a *app) addEntry(
	ctx context.Context, o *connectFlags, e connect.Env, one connect.Options,
) (r *connect.Result, err error) {
	if one.Program, err = o.program(one.Scope); err != nil {
		return nil, err
	}
	if one.Scope == connect.Enterprise {
		if err := a.checkShared(one.Program); err != nil {
			return nil, err
		}
	}
	if r, err = connect.Install(ctx, e, one); err != nil {
		return nil, err
	}
	if o.command == "" && one.Scope == connect.Project {
		if _, err := exec.LookPath(one.Program); err != nil {
			r.Notes = append(r.Notes,
				"agents cannot start skillpm, because skillpm is not on PATH: add the directory of skillpm to PATH")
		}
	}
	return r, nil
}
