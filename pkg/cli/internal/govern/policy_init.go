package govern

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// The values of --preset.
const (
	presetStandard = "standard"
	presetStrict   = "strict"
)

func newPolicyInit(a *app) *cobra.Command {
	var level levelFlags
	preset := presetStandard
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create a policy",
		Long: `The new policy denies content that skills rarely need, such as native binaries. The
comments in the file explain each rule, and show stricter rules. skillpm never overwrites an
existing policy.

--preset strict also denies hooks and commands in the text of skills, and every finding of the
SEC rules. Skills with scripts, network tools, file writes, or an unlimited shell need an
approval, and scripts run only in a sandbox without a network.`,
		Example: `  skillpm policy init --scope project
  sudo skillpm policy init --scope machine --preset strict
  skillpm policy init && skillpm policy check`,
		Args: console.Need(0, 0, "no arguments"),
	}
	level.add(a, cmd, "create the policy of `SCOPE`", "user")
	cmd.Flags().StringVar(&preset, "preset", preset, "use the rules of `PRESET`: standard or strict")
	a.CompleteFlag(cmd, "preset", cobra.FixedCompletions([]string{presetStandard, presetStrict},
		cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if preset != presetStandard && preset != presetStrict {
			return diag.Errorf(diag.Usage, "unknown preset %q", preset).WithHint("use standard or strict")
		}
		l, h, err := a.open(cmd.Context(), level)
		if err != nil {
			return err
		}
		record := audit.Record{Action: audit.Policy, Reason: "policy init"}
		file, err := a.changePolicy(h, record, func() (string, error) {
			return h.Guard().Init(cmd.Context(), l, starter(l, preset == presetStrict))
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
func starter(l policy.Level, strict bool) string {
	forbid, findings := "forbid: [native-binaries]", `"SEC1*"`
	approve := "#approve: [scripts, hooks, dynamic-shell, network-tools, file-write, unscoped-shell]"
	if strict {
		forbid, findings = "forbid: [native-binaries, hooks, dynamic-shell]", "SEC"
		approve = "approve: [scripts, network-tools, file-write, unscoped-shell]"
	}
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
		"# Capabilities that no skill may have.\n" + forbid + "\n\n" +
		"# Capabilities that need an approval: `skillpm approve SKILL --reason TEXT`.\n" +
		"# Installed skills with these capabilities are denied until you approve them.\n" + approve + "\n\n" +
		"# Size limits of a skill.\n" +
		"limits: {files: 2000, file_bytes: 10MiB, total_bytes: 50MiB}\n\n" +
		"# Findings of `skillpm validate` that deny a skill; `skillpm explain` lists the rules.\n" +
		"lint: {fail_on: [" + findings + "]}\n\n" +
		"# Whether an older version may replace an installed version.\n" +
		"downgrade: deny\n"
	if strict {
		text += `
# Scripts run in a sandbox, without a network.
execution: {sandbox: always, unavailable: refuse, network: []}

# A tool call whose hook event cannot be read is denied.
hooks: {unreadable: closed}
`
	}
	if l == policy.MachineLevel {
		text += `
# Approvals that this policy accepts: own (only approvals of the machine) or user (also approvals of users).
approvers: own

# The audit log. With required: true, an action fails if skillpm cannot record the action.
#audit: {path: /var/log/skillpm, required: true}
`
	}
	return text
}
