package cli

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

// shells are the shells that completion supports.
var shells = [...]struct {
	name, file string
	write      func(root *cobra.Command, a *console.App) error
}{
	{"bash", "~/.local/share/bash-completion/completions/skillpm", func(root *cobra.Command, a *console.App) error {
		return root.GenBashCompletionV2(a.Stdout, true)
	}},
	{"fish", "~/.config/fish/completions/skillpm.fish", func(root *cobra.Command, a *console.App) error {
		return root.GenFishCompletion(a.Stdout, true)
	}},
	{"powershell", "skillpm.ps1", func(root *cobra.Command, a *console.App) error {
		return root.GenPowerShellCompletionWithDesc(a.Stdout)
	}},
	{"zsh", "~/.zfunc/_skillpm", func(root *cobra.Command, a *console.App) error {
		return root.GenZshCompletion(a.Stdout)
	}},
}

func newCompletion(a *console.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion",
		Short: "Print a shell completion script",
		Long: `The script completes commands, flags, packs, skills, and agents on the command line.
Write the script to a file from which your shell loads completions, and start a new shell.`,
		Example: `  skillpm completion bash > ~/.local/share/bash-completion/completions/skillpm
  skillpm completion zsh > ~/.zfunc/_skillpm
  skillpm completion fish > ~/.config/fish/completions/skillpm.fish`,
		Args: cobra.ArbitraryArgs,
		RunE: console.UnknownCommand,
	}
	for _, shell := range shells {
		cmd.AddCommand(&cobra.Command{
			Use:   shell.name,
			Short: "Print the completion script for " + shell.name,
			Long:  "In " + shell.name + ", the script completes commands, flags, packs, skills, and agents.",
			Example: "  skillpm completion " + shell.name + " > " + shell.file +
				"\n  skillpm completion " + shell.name + " | less\n  " + loads(shell.name),
			Args: console.UsageArgs(nil),
			RunE: func(cmd *cobra.Command, _ []string) error { return shell.write(cmd.Root(), a) },
		})
	}
	return cmd
}

// loads returns the command that loads the script in the running shell only.
func loads(shell string) string {
	switch shell {
	case "fish":
		return "skillpm completion fish | source"
	case "powershell":
		return "skillpm completion powershell | Out-String | Invoke-Expression"
	}
	return "source <(skillpm completion " + shell + ")"
}
