package install

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newLink(a *app) *cobra.Command {
	var o skillpm.LinkOptions
	cmd := &cobra.Command{
		Use:     "link DIR",
		Short:   "Use a pack that is being worked on, as it is",
		GroupID: "author",
		Long: `Link the skills of the pack in DIR into this project (or, with --scope user, for
the user) instead of copies of a release: what is changed in DIR is in force at
once. If the pack is installed, its release makes room until skillpm unlink.

This is a matter of this machine: skillpm.yaml and skillpm.lock stay as they are,
skillpm list shows it, and install --frozen refuses it. A skill that is new in DIR
is linked by the next skillpm install.`,
		Example: `  skillpm link ../deploy-skills
  skillpm link ~/src/ops --scope user
  skillpm unlink acme/deploy`,
		Args:              console.Need(1, 1, "the DIR of one pack"),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			o.Dir = args[0]
			r, err := c.Link(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printInstall(r, "link")
		},
	}
	linkFlags(cmd, &o)
	return cmd
}

func newUnlink(a *app) *cobra.Command {
	var o skillpm.LinkOptions
	cmd := &cobra.Command{
		Use:     "unlink PACK|DIR",
		Short:   "Go back from a linked pack to its release",
		GroupID: "author",
		Long: `End what skillpm link began: the release that skillpm.lock has comes back, or, if
the pack is not installed, its skills go. The directory that was linked stays as it is.`,
		Example: `  skillpm unlink acme/deploy
  skillpm unlink ../deploy-skills`,
		Args:              console.Need(1, 1, "one PACK or DIR"),
		ValidArgsFunction: a.completeLinked,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.Unlink(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			return a.printInstall(r, "unlink")
		},
	}
	linkFlags(cmd, &o)
	return cmd
}

func linkFlags(cmd *cobra.Command, o *skillpm.LinkOptions) {
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and do nothing")
	cmd.Flags().BoolVar(&o.Force, "force", false, "replace installed skills that were edited")
	scopeFlag(cmd, &o.Scope)
}

// completeLinked completes the names of linked packs.
func (a *app) completeLinked(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.Client()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return console.Matching(c.LinkedNames(cmd.Flag("scope").Value.String()), prefix), cobra.ShellCompDirectiveNoFileComp
}
