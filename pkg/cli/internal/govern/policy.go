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
		Use:     "policy",
		Short:   "Say what the policies allow",
		GroupID: "govern",
		Long: `A policy says which sources, packs and skills may be used, what they may be able to
do, and what somebody must approve first. There are three: the machine's, which belongs to
its administrator and which nothing else can loosen, the user's, and the project's. Each
must allow what is done. docs/policy.md says what can be written there.`,
		Example: "  skillpm policy check\n  skillpm policy explain\n  skillpm policy init",
		RunE:    console.UnknownCommand,
		Args:    cobra.ArbitraryArgs,
	}
	for _, c := range []*cobra.Command{newPolicyCheck(a), newPolicyExplain(a), newPolicyInit(a)} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// levelFlags select the policy to change.
type levelFlags struct{ machine, user, project bool }

// add adds the flags to a command.
func (l *levelFlags) add(cmd *cobra.Command, what string) {
	f := cmd.Flags()
	f.BoolVar(&l.machine, "machine", false, what+" of the machine, which its administrator keeps")
	f.BoolVar(&l.user, "user", false, what+" of yours (the default)")
	f.BoolVar(&l.project, "project", false, what+" of the project")
}

func (l *levelFlags) level() (policy.Level, error) {
	switch {
	case l.machine && l.user, l.machine && l.project, l.user && l.project:
		return 0, diag.Errorf(diag.Usage, "--machine, --user and --project are three places: one of them is written to")
	case l.machine:
		return policy.MachineLevel, nil
	case l.project:
		return policy.ProjectLevel, nil
	}
	return policy.UserLevel, nil
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
		return "", diag.Errorf(diag.Internal, "nobody can tell who you are: %w", err)
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
			return "", diag.Errorf(diag.Denied, "%w; a policy wants it on record, so it is not done", err).
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
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a policy to begin with",
		Long: `Write a policy to begin with: it refuses what is hardly ever meant, as programs that nobody
can read, says what each rule means, and has the stricter ones as comments. A policy that is
there is never overwritten.`,
		Example: "  skillpm policy init --project\n  sudo skillpm policy init --machine",
		Args:    console.Need(0, 0, "no arguments"),
	}
	level.add(cmd, "the policy")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, h, err := a.open(cmd.Context(), level)
		if err != nil {
			return err
		}
		record := audit.Record{Action: audit.Policy, Reason: "policy init"}
		file, err := a.changePolicy(h, record, func() (string, error) {
			return h.Guard().Init(cmd.Context(), l, starter(l))
		})
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(map[string]any{"policy": file, "level": l.String()})
		}
		fmt.Fprintf(a.Stdout, "%s\n", console.Printable(file))
		a.Note(
			"it is in force; skillpm policy explain says what it refuses of what is here, and mode: audit has it " +
				"observe only")
		return nil
	}
	return cmd
}

// starter returns the initial policy of a level.
func starter(l policy.Level) string {
	text := `# A policy of skillpm: what skills may be, and may do. docs/policy.md has every key.
# ` + "`skillpm policy check`" + ` says whether this file is valid: one with a mistake denies everything.
version: 1

# audit: what is not allowed is only said and recorded. enforce: it is refused.
mode: enforce

# Where packs may come from. Without a list: from everywhere.
#sources:
#  allow: ["oci://registry.example/acme/**"]
#  deny: ["oci://registry.example/acme/labs/**"]

# Skills that may not be used: skill@owner/name, or a name alone. ` + "`skillpm deny SKILL`" + ` adds one.
#skills:
#  deny: ["deploy@evil/*"]

# Who must have signed packs, and how long a release must be out.
#require:
#  - match: "oci://registry.example/acme/**"
#    min_release_age: 72h

# What no skill may have.
forbid: [native-binaries]

# What a skill may have once somebody has approved it: ` + "`skillpm approve SKILL --reason TEXT`" + `.
# From then on nothing that is here and has it is used before somebody did.
#approve: [scripts, hooks, dynamic-shell, network-tools, file-write, unscoped-shell]

# How large a skill may be.
limits: {files: 2000, file_bytes: 10MiB, total_bytes: 50MiB}

# Findings of ` + "`skillpm validate`" + ` that keep a skill from being used; ` + "`skillpm rules`" + ` lists them.
lint: {fail_on: ["SEC1*"]}

# Whether an older version may replace what is installed.
downgrade: deny
`
	if l == policy.MachineLevel {
		text += `
# Whose approvals count for this file: own, those that root keeps beside it, or user, the users' as well.
approvers: own

# Where what is done is written down. required: nothing is done that can't be.
#audit: {path: /var/log/skillpm, required: true}
`
	}
	return text
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

// findNamed returns the skills with a name, including shadowed ones: a skill's name, name@owner/name, or owner/name for
// all skills of a pack.
func findNamed(ctx context.Context, h *runtime.Host, name string) ([]foundSkill, error) {
	c, err := h.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	var list []foundSkill
	seen := map[string]bool{}
	for _, e := range c.All() {
		if e.Skill == nil || seen[e.Dir] || e.Exact() != name && e.Name != name && (e.Pack == "" || e.Pack != name) {
			continue
		}
		seen[e.Dir] = true
		list = append(list, foundSkill{Skill: h.PolicySkill(e.Skill), dir: e.Dir, known: e.Skill})
	}
	return list, nil
}
