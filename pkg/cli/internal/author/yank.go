package author

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
)

func newYank(a *app) *cobra.Command {
	var reason, message, registry string
	var undo bool
	cmd := &cobra.Command{
		Use:   "yank PACK[@VERSION]",
		Short: "Yank a version or deprecate a pack",
		Long: `If a version is yanked, skillpm no longer selects it for new installations. Projects that
have locked the version can still install it, with a warning that shows the reason. The
registry keeps all versions.

--deprecate shows a message to the users of all versions of a pack, for example which
pack to use instead. Users can still install the pack.

--undo restores a version, or with --deprecate removes the message.

--registry is oci://REGISTRY/NAMESPACE, oci-layout:DIR, an index directory, or the name of
a configured registry. The default is the registry that the settings bind the owner to, or
else the local layout. To change an index on a server, change a checkout of the index.`,
		Example: `  skillpm yank acme/deploy@1.4.0 --reason 'deletes the namespace'
  skillpm yank acme/deploy@1.4.0 --undo
  skillpm yank acme/ship --deprecate 'use acme/deploy instead'
  skillpm yank acme/ship --deprecate --undo`,
		Args:              console.Need(1, 2, "one PACK"),
		ValidArgsFunction: a.completePublished,
	}
	f := cmd.Flags()
	f.StringVar(&reason, "reason", "", "show `TEXT`, one line, as the reason (required to yank a version)")
	f.BoolVar(&undo, "undo", false, "restore the version, or remove the deprecation")
	f.StringVar(&message, "deprecate", "", "deprecate the pack with the message `TEXT`")
	f.Lookup("deprecate").NoOptDefVal = " "
	a.addRegistryFlag(cmd, &registry)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		reason, message = strings.TrimSpace(reason), strings.TrimSpace(message)
		deprecate := cmd.Flags().Changed("deprecate")
		if deprecate && message == "" && len(args) > 1 {
			message, args = strings.TrimSpace(args[1]), args[:1]
		}
		switch {
		case deprecate && undo == (message != ""):
			return diag.Errorf(diag.Usage, "--deprecate needs either a message or --undo").
				WithHint("run: skillpm yank %s --deprecate 'use PACK instead'", args[0])
		case !deprecate && !undo && reason == "":
			return diag.Errorf(diag.Usage, "skillpm yank needs --reason TEXT, which users see").
				WithHint("run: skillpm yank %s --reason 'what is wrong with this version'", args[0])
		case undo && reason != "":
			return diag.Errorf(diag.Usage, "--undo cannot be used with --reason")
		}
		return a.changeStatus(func(c *publish.Client) (*publish.StatusReport, error) {
			if deprecate {
				return c.Deprecate(cmd.Context(), args[0], message, registry)
			}
			return c.Yank(cmd.Context(), args[0], reason, registry)
		})
	}
	return cmd
}

func (a *app) addRegistryFlag(cmd *cobra.Command, registry *string) {
	cmd.Flags().StringVar(registry, "registry", "", "change the pack in `REGISTRY`")
	a.CompleteFlag(cmd, "registry", a.completeRegistries(true))
}

// completeRegistries completes the registries that accept changes.
func (a *app) completeRegistries(indexes bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		c, err := a.Author()
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return console.Matching(c.RegistryNames(indexes), prefix), cobra.ShellCompDirectiveDefault
	}
}

// completePublished completes the packs that were published from this machine.
func (a *app) completePublished(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.Author()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return console.Matching(c.PublishedNames(cmd.Context(), prefix), prefix), cobra.ShellCompDirectiveNoFileComp
}

// changeStatus changes the status of a pack and prints the result.
func (a *app) changeStatus(change func(*publish.Client) (*publish.StatusReport, error)) error {
	c, err := a.Author()
	if err != nil {
		return err
	}
	r, err := change(c)
	if err != nil {
		return err
	}
	a.Warnings(r.Warnings)
	if a.JSON {
		return a.PrintJSON(r)
	}
	if !r.Changed {
		a.Note("No change: %s", statusText(r))
		return nil
	}
	a.Note("%s", statusText(r))
	if r.Index {
		a.Note("Next, run \"skillpm index build\", and commit the changes.")
	}
	return nil
}

// statusText describes the status of a pack or version after a change.
func statusText(r *publish.StatusReport) string {
	switch {
	case r.Yanked != "":
		return fmt.Sprintf("%s@%s is yanked in %s: %s", r.Pack, r.Version, r.Reference, r.Yanked)
	case r.Version != "":
		return fmt.Sprintf("%s@%s is not yanked in %s.", r.Pack, r.Version, r.Reference)
	case r.Deprecated != "":
		return fmt.Sprintf("%s is deprecated in %s: %s", r.Pack, r.Reference, r.Deprecated)
	}
	return fmt.Sprintf("%s is not deprecated in %s.", r.Pack, r.Reference)
}
