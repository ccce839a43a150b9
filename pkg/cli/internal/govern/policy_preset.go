package govern

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/policy"
)

// addPreset adds the flag that selects a preset.
func addPreset(a *app, cmd *cobra.Command, preset *string) {
	cmd.Flags().StringVar(preset, "preset", "", "use the rules of `PRESET`: "+strings.Join(policy.Presets(), ", "))
	a.CompleteFlag(cmd, "preset", cobra.FixedCompletions(policy.Presets(), cobra.ShellCompDirectiveNoFileComp))
}

// initialPolicy returns the first policy of a level, with the rules of a preset if it has a name.
func initialPolicy(l policy.Level, preset string) (string, error) {
	if preset == "" {
		return starter(l), nil
	}
	text, err := policy.Preset(preset)
	if l == policy.MachineLevel {
		text += machineRules
	}
	return text, err
}
