package install

import (
	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newLink(a *app) *cobra.Command {
	var o skillpm.LinkOptions
	undo := false
	cmd := &cobra.Command{
		Use:   "link DIR|PACK",
		Short: "Use a local working copy of a pack",
		Long: `The command links the skills of the pack in DIR into this project or, with --scope user, for
the user. Changes in DIR take effect immediately, and editing a linked file changes the
working copy. The link replaces an installed release of the pack until you run
"skillpm link --undo".

The link exists only on this machine: skillpm.yaml and skillpm.lock do not change.
"skillpm list" shows the link, and "skillpm install --frozen" fails while the link exists.
The next "skillpm install" links skills that are new in DIR.

--undo takes DIR or the name of the pack. skillpm then reinstalls the release in
skillpm.lock, or removes the skills if skillpm.lock does not contain the pack. DIR does not
change.`,
		Example: `  skillpm link ../deploy-skills
  skillpm link ~/src/ops --scope user
  skillpm link acme/deploy --undo`,
		Args:              console.Need(1, 1, "one DIR"),
		ValidArgsFunction: a.completeLinked,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			if undo {
				r, err := c.Unlink(cmd.Context(), args[0], o)
				if err != nil {
					return err
				}
				return a.printInstall(r, "unlink")
			}
			o.Dir = args[0]
			r, err := c.Link(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printInstall(r, "link")
		},
	}
	f := cmd.Flags()
	f.BoolVar(&undo, "undo", false, "remove the link, and reinstall the release in skillpm.lock")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would change, without changing it")
	f.BoolVar(&o.Force, "force", false, "replace locally edited skills")
	scopeFlag(cmd, &o.Scope)
	return cmd
}

// completeLinked completes directories and, with --undo, the names of linked packs.
func (a *app) completeLinked(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.Client()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if cmd.Flag("undo").Value.String() != "true" {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return console.Matching(c.LinkedNames(cmd.Flag("scope").Value.String()), prefix), cobra.ShellCompDirectiveNoFileComp
}
