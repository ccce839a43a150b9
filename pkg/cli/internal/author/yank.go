package author

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
)

// whereHelp describes where yank, unyank, and deprecate store the status.
const whereHelp = `
It is said where the pack is published: in the registry or index that --registry
names (oci://HOST/NAMESPACE, oci-layout:DIR, an index's directory, or a name of
the settings), else in the one that the settings bind the pack's owner to, else
in the user's local layout. An index on a server is changed in a checkout of it.`

func newYank(a *app) *cobra.Command {
	var reason, registry string
	cmd := &cobra.Command{
		Use:     "yank PACK@VERSION --reason WHY",
		Short:   "Withdraw a published version",
		GroupID: "author",
		Long: `Withdraw a version: nothing chooses it any more. Where it is locked it can still
be installed, with a warning that has the reason; nothing is deleted.
` + whereHelp,
		Example: `  skillpm yank acme/deploy@1.4.0 --reason 'deletes the namespace when the image is missing'
  skillpm yank acme/deploy@1.4.0 --reason '…' --registry oci://registry.example/acme`,
		Args:              console.Need(1, 1, "one PACK@VERSION"),
		ValidArgsFunction: a.completePublished,
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(reason) == "" {
				return diag.Errorf(diag.Usage, "a version is withdrawn for a reason, which its users are told").
					WithHint("skillpm yank %s --reason 'what is wrong with it'", args[0])
			}
			return a.changeStatus(func(c *publish.Client) (*publish.StatusReport, error) {
				return c.Yank(cmd.Context(), args[0], strings.TrimSpace(reason), registry)
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "what is wrong with the version, in one line")
	a.addRegistryFlag(cmd, &registry)
	return cmd
}

func newUnyank(a *app) *cobra.Command {
	var registry string
	cmd := &cobra.Command{
		Use:               "unyank PACK@VERSION",
		Short:             "Restore a version that was withdrawn",
		GroupID:           "author",
		Long:              "Take back that a version was withdrawn: it can be chosen again.\n" + whereHelp,
		Example:           "  skillpm unyank acme/deploy@1.4.0",
		Args:              console.Need(1, 1, "one PACK@VERSION"),
		ValidArgsFunction: a.completePublished,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeStatus(func(c *publish.Client) (*publish.StatusReport, error) {
				return c.Yank(cmd.Context(), args[0], "", registry)
			})
		},
	}
	a.addRegistryFlag(cmd, &registry)
	return cmd
}

func newDeprecate(a *app) *cobra.Command {
	var registry string
	var undo bool
	cmd := &cobra.Command{
		Use:     "deprecate PACK MESSAGE",
		Short:   "Advise against a pack",
		GroupID: "author",
		Long: `Tell who looks at a pack or installs it what to know about it, such as which one
takes its place. Its versions are chosen and installed as before. --undo takes
the advice back.
` + whereHelp,
		Example: `  skillpm deprecate acme/ship 'acme/deploy takes its place'
  skillpm deprecate acme/ship --undo`,
		Args:              console.Need(1, 2, "one PACK and one MESSAGE"),
		ValidArgsFunction: a.completePublished,
		RunE: func(cmd *cobra.Command, args []string) error {
			message := ""
			if len(args) == 2 {
				message = strings.TrimSpace(args[1])
			}
			if undo == (message != "") {
				return diag.Errorf(diag.Usage, "give either a message or --undo").
					WithHint("skillpm deprecate %s 'what to use instead'", args[0])
			}
			return a.changeStatus(func(c *publish.Client) (*publish.StatusReport, error) {
				return c.Deprecate(cmd.Context(), args[0], message, registry)
			})
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "take the advice back")
	a.addRegistryFlag(cmd, &registry)
	return cmd
}

func (a *app) addRegistryFlag(cmd *cobra.Command, registry *string) {
	cmd.Flags().StringVar(registry, "registry", "", "the `REGISTRY` that the pack is published in")
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
	name, now := r.Pack, "is not deprecated"
	switch {
	case r.Yanked != "":
		name, now = r.Pack+"@"+r.Version, "is withdrawn: "+r.Yanked
	case r.Version != "":
		name, now = r.Pack+"@"+r.Version, "can be chosen"
	case r.Deprecated != "":
		now = "is deprecated: " + r.Deprecated
	}
	if !r.Changed {
		a.Note("%s %s; %s said so before", name, now, r.Reference)
		return nil
	}
	a.Note("%s %s; %s says so", name, now, r.Reference)
	if r.Index {
		a.Note("next: skillpm index build, and commit what changed")
	}
	return nil
}
