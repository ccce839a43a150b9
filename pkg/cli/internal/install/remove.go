package install

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newRemove(a *app) *cobra.Command {
	var o skillpm.RemoveOptions
	cmd := &cobra.Command{
		Use:     "remove PACK...",
		Aliases: []string{"rm"},
		Short:   "Remove packs",
		Long: `The command removes the packs from skillpm.yaml and skillpm.lock, and their skills from the
agents. The command also removes dependencies that no other pack requires.`,
		Example: `  skillpm remove acme/deploy
  skillpm remove acme/deploy --dry-run
  skillpm remove acme/deploy --scope user`,
		Args: console.Need(1, 1<<30, "at least one PACK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			o.Packs = args
			r, err := c.Remove(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printInstall(r, "remove")
		},
		ValidArgsFunction: a.CompleteInstalledPacks,
	}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "show what would change, without changing it")
	cmd.Flags().BoolVar(&o.Force, "force", false,
		"also remove locally edited skills, and keep copies in .skillpm/backup")
	scopeFlag(cmd, &o.Scope)
	return cmd
}
