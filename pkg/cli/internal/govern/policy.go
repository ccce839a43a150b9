package govern

import (
	"context"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
)

func newPolicy(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check and explain policies",
		Long: `A policy decides which sources, packs, and skills may be used, what they may do, and
what needs an approval. The machine, the user, and the project can each have a policy.
Only the administrator can change the machine's policy. skillpm allows an action only if all
policies allow the action.`,
		Example: `  skillpm policy explain deploy
  skillpm policy check
  skillpm policy init`,
		RunE: console.UnknownCommand,
		Args: cobra.ArbitraryArgs,
	}
	for _, c := range []*cobra.Command{newPolicyCheck(a), newPolicyExplain(a), newPolicyInit(a)} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// levelFlags select the policy to change.
type levelFlags struct{ scope string }

// add adds the flag to a command.
func (l *levelFlags) add(a *app, cmd *cobra.Command, usage, byDefault string) {
	cmd.Flags().StringVar(&l.scope, "scope", "", usage+": project, user, or machine (default "+byDefault+")")
	a.CompleteFlag(cmd, "scope", cobra.FixedCompletions(levelScopes, cobra.ShellCompDirectiveNoFileComp))
}

var levelScopes = []string{"project", "user", "machine"}

func (l *levelFlags) level() (policy.Level, error) {
	switch l.scope {
	case "", "user":
		return policy.UserLevel, nil
	case "project":
		return policy.ProjectLevel, nil
	case "machine":
		return policy.MachineLevel, nil
	}
	return 0, diag.Errorf(diag.Usage, "unknown --scope %q", l.scope).WithHint("use project, user, or machine")
}

// open opens the selected level and the current catalog.
func (a *app) open(ctx context.Context, level levelFlags) (policy.Level, *runtime.Host, error) {
	l, err := level.level()
	if err != nil {
		return l, nil, err
	}
	h, err := a.Host(ctx, &console.RuntimeFlags{})
	return l, h, err
}

// userName returns the user's name from the operating system, which environment variables cannot change.
func userName() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", diag.Errorf(diag.Internal, "cannot determine the current user: %w", err)
	}
	return u.Username, nil
}

// changePolicy changes a policy and records that: before the change if a policy requires complete records, and after it
// in any case.
func (a *app) changePolicy(h *runtime.Host, r audit.Record, change func() (file string, err error)) (string, error) {
	log := h.Audit()
	r.Project, r.Profile = h.Project(), ""
	if log.Required() {
		id, err := log.Intend(r)
		if err != nil {
			return "", diag.Errorf(diag.Denied, "cannot change the policy without a record in the audit log: %w", err).
				WithHint("%s", diag.HintOf(err))
		}
		r.ID, r.Phase = id, audit.Outcome
	}
	file, err := change()
	r.Result, r.Policy, r.File = audit.OK, h.Guard().Digest(), file
	if err != nil {
		r.Result, r.Reason = audit.Failed, err.Error()
		if diag.CodeOf(err) == diag.Denied {
			r.Result = audit.Denied
		}
	}
	if problem := log.Write(r); problem != nil {
		a.Warn("%v", problem)
	}
	return file, err
}

// completeGoverned completes the names of all skills and packs, including shadowed ones.
func (a *app) completeGoverned(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c := a.CompletionCatalog(cmd)
	if c == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	packs := map[string]bool{}
	for _, e := range c.All() {
		names = append(names, cobra.CompletionWithDesc(e.Exact(), console.Brief(e.Description)))
		if e.Pack != "" && !packs[e.Pack] {
			packs[e.Pack] = true
			names = append(names, cobra.CompletionWithDesc(e.Pack, "a pack"))
		}
	}
	return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// findNamed returns the skills with a name, including shadowed ones, as [catalog.Catalog.Named] does.
func findNamed(ctx context.Context, h *runtime.Host, name string) ([]foundSkill, error) {
	c, err := h.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := c.Named(name)
	var list []foundSkill
	seen := map[string]bool{}
	for _, e := range entries {
		if !seen[e.Dir] {
			seen[e.Dir] = true
			list = append(list, foundSkill{Skill: h.PolicySkill(e.Skill), dir: e.Dir, known: e.Skill})
		}
	}
	return list, err
}
