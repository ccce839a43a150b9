package govern

import (
	"context"
	"fmt"
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

func newPolicyInit(a *app) *cobra.Command {
	var level levelFlags
	var preset string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create a policy",
		Long: `The new policy denies content that skills rarely need, such as native binaries. The
comments in the file explain each rule, and show stricter rules. skillpm never overwrites an existing policy.

With --preset strict, a skill that can run or write anything needs an approval, scripts run
only in the sandbox and without network access, and published packs must be signed.`,
		Example: `  skillpm policy init --scope project
  sudo skillpm policy init --preset strict --scope machine
  skillpm policy init && skillpm policy check`,
		Args: console.Need(0, 0, "no arguments"),
	}
	level.add(a, cmd, "create the policy of `SCOPE`", "user")
	addPreset(a, cmd, &preset)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, h, err := a.open(cmd.Context(), level)
		if err != nil {
			return err
		}
		text, err := initialPolicy(l, preset)
		if err != nil {
			return err
		}
		record := audit.Record{Action: audit.Policy, Reason: "policy init"}
		file, err := a.changePolicy(h, record, func() (string, error) {
			return h.Guard().Init(cmd.Context(), l, text)
		})
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(policyInitDocument{file, l.String()})
		}
		if !a.Quiet {
			fmt.Fprintf(a.Stdout, "Created %s\n", console.Printable(file))
		}
		a.Note("The policy is in effect. Show its rules with: skillpm policy explain")
		a.Note("To record denials without enforcing them, set \"mode: audit\" in the policy.")
		return nil
	}
	return cmd
}

// starter returns the initial policy of a level.
func starter(l policy.Level) string {
	text := "# A skillpm policy: which skills may be used, and what they may do.\n" +
		"# `skillpm policy check` checks this file. An invalid policy denies everything.\n" +
		"version: 1\n\n" +
		"# audit: only record violations. enforce: deny violations.\n" +
		"mode: enforce\n\n" +
		"# Allowed sources of packs. Without a list, every source is allowed.\n" +
		"#sources:\n" +
		"#  allow: [\"oci://registry.example/acme/**\"]\n" +
		"#  deny: [\"oci://registry.example/acme/labs/**\"]\n\n" +
		"# Skills: skill@owner/name, owner/name, or a name alone. `skillpm deny SKILL` adds to deny.\n" +
		"# Without a list of allowed skills, every skill is allowed.\n" +
		"#skills:\n" +
		"#  allow: [\"acme/*\"]\n" +
		"#  deny: [\"deploy@evil/*\"]\n\n" +
		"# Who may create skills in a layer, and publish packs of an owner.\n" +
		"#authoring:\n" +
		"#  create: {enterprise: [\"group:platform\"]}\n" +
		"#  publish: {acme: [ada, \"group:release\"], \"*\": []}\n\n" +
		"# Required signers, and the minimum age of a release.\n" +
		"#require:\n" +
		"#  - match: \"oci://registry.example/acme/**\"\n" +
		"#    min_release_age: 72h\n\n" +
		"# Capabilities that no skill may have.\n" +
		"forbid: [native-binaries]\n\n" +
		"# Capabilities that need an approval: `skillpm approve SKILL --reason TEXT`.\n" +
		"# Installed skills with these capabilities are denied until you approve them.\n" +
		"#approve: [scripts, hooks, dynamic-shell, network-tools, file-write, unscoped-shell]\n\n" +
		"# Size limits of a skill.\n" +
		"limits: {files: 2000, file_bytes: 10MiB, total_bytes: 50MiB}\n\n" +
		"# Findings of `skillpm validate` that deny a skill; `skillpm explain` lists the rules.\n" +
		"lint: {fail_on: [\"SEC1*\"]}\n\n" +
		"# Whether an older version may replace an installed version.\n" +
		"downgrade: deny\n"
	if l == policy.MachineLevel {
		text += machineRules
	}
	return text
}

// machineRules are additional rules of a machine's policy.
const machineRules = `
# Approvals that this policy accepts: own (only approvals of the machine) or user (also approvals of users).
approvers: own

# The audit log. With required: true, an action fails if skillpm cannot record the action.
#audit: {path: /var/log/skillpm, required: true}
`

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
