package govern

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

func newPolicyInit(a *app) *cobra.Command {
	var level levelFlags
	preset := policy.StandardPreset
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create a policy",
		Long: `The new policy denies content that skills rarely need, such as native binaries. The
comments in the file explain each rule, and show stricter rules. skillpm never overwrites an
existing policy.

--preset strict also denies hooks and commands in the text of skills. A skill that can run or
write anything needs an approval, scripts run only in a sandbox without a network, and
published packs must be signed.`,
		Example: `  skillpm policy init --scope project
  sudo skillpm policy init --scope machine --preset strict
  skillpm policy init && skillpm policy check`,
		Args: console.Need(0, 0, "no arguments"),
	}
	level.add(a, cmd, "create the policy of `SCOPE`", "user")
	cmd.Flags().StringVar(&preset, "preset", preset, "use the rules of `PRESET`: "+strings.Join(policy.Presets(), " or "))
	a.CompleteFlag(cmd, "preset", cobra.FixedCompletions(policy.Presets(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		text, err := policy.Preset(preset)
		if err != nil {
			return err
		}
		l, h, err := a.open(cmd.Context(), level)
		if err != nil {
			return err
		}
		if l == policy.MachineLevel {
			text += machineRules
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
			fmt.Fprintf(a.Stdout, "Created %s\n", file)
		}
		a.Note("The policy is in effect. Show its rules with: skillpm policy explain")
		a.Note("To record denials without enforcing them, set \"mode: audit\" in the policy.")
		return nil
	}
	return cmd
}

// machineRules are additional rules of a machine's policy.
const machineRules = `
# Approvals that this policy accepts: own (only approvals of the machine) or user (also approvals of users).
approvers: own

# The audit log. With required: true, an action fails if skillpm cannot record the action.
#audit: {path: /var/log/skillpm, required: true}
`
