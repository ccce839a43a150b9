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
		Aliases: []string{"rm", "uninstall"},
		Short:   "Remove packs and what only they needed",
		GroupID: "use",
		Long: `Take packs out of skillpm.yaml and remove their skills, their links, and the
packs that nothing requires any more.`,
		Example: "  skillpm remove acme/deploy\n  skillpm remove acme/deploy --dry-run",
		Args:    console.Need(1, 1<<30, "at least one PACK"),
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
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&o.Force, "force", false,
		"remove installed skills that were edited, too; copies are kept in .skillpm/backup")
	scopeFlag(cmd, &o.Scope)
	return cmd
}
