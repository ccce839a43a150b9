package install

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newRegistry(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "registry",
		Short: "Manage registries",
		Long: `A registry is a source of many packs: an index, or a prefix of an OCI registry. skillpm
looks up packs by name in registries.

  https://HOST/PATH        an index on a web server
  git+https://HOST/REPO    an index in a git repository
  index+oci://HOST/REPO    an index in an OCI registry
  oci://HOST/NAMESPACE     packs below a namespace of an OCI registry
  oci-layout:DIR, DIR      packs in an OCI layout, an index in a directory
  clawhub+https://HOST     packs of a server with the API of ClawHub
  apm+https://HOST         packs of a server with the API of apm

skillpm looks up a pack in all indexes, unless the owner of the pack is bound to one
registry. The commands change the settings of the user (config.yaml) or, with --scope
project, of the project (skillpm.yaml), and keep comments in these files.`,
		Example: `  skillpm registry add acme https://packs.example/index --namespace acme
  skillpm registry bind globex oci://registry.example/globex
  skillpm registry list`,
		Args: cobra.ArbitraryArgs,
		RunE: console.UnknownCommand,
	}
	for _, c := range []*cobra.Command{
		newRegistryAdd(a), newRegistryList(a), newRegistryRemove(a), newRegistryBind(a),
	} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// settingsScope is the value of --scope: whose settings change.
type settingsScope bool

func (s *settingsScope) Type() string { return "string" }

func (s *settingsScope) String() string {
	if *s {
		return scope.KindProject
	}
	return scope.KindUser
}

func (s *settingsScope) Set(text string) error {
	if *s = text == scope.KindProject; !*s && text != scope.KindUser {
		return errors.New("use project or user")
	}
	return nil
}

func settingsScopeFlag(cmd *cobra.Command, target *bool) {
	cmd.Flags().Var((*settingsScope)(target), "scope", "change the settings of `SCOPE`: project or user")
}

func newRegistryAdd(a *app) *cobra.Command {
	var o skillpm.RegistryAddOptions
	cmd := &cobra.Command{
		Use:   "add NAME URL",
		Short: "Add a registry",
		Long: `NAME is a name of your choice. skillpm first checks that the registry responds. With --namespace,
skillpm looks up the packs of an owner only in this registry. With --publisher, it also rejects
packs of the owner that another publisher signed; "skillpm registry bind --help" describes
publishers. "skillpm registry --help" lists the kinds of URL.`,
		Example: `  skillpm registry add acme https://packs.example/index --namespace acme
  skillpm registry add team git+https://git.example/index.git --scope project
  skillpm registry add lab oci://registry.example/lab --no-check`,
		Args:              console.Need(2, 2, "a NAME and a URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name, o.URL = args[0], args[1]
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.RegistryAdd(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printRegistryChange(r, fmt.Sprintf("Added registry %s (%s).", r.Name, r.URL))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Publisher, "publisher", "", "reject packs of the owner that `PUBLISHER` did not sign")
	f.StringSliceVar(&o.Namespaces, "namespace", nil, "look up the packs of `OWNER` only in this registry")
	f.BoolVar(&o.NoCheck, "no-check", false, "do not check that the registry responds")
	settingsScopeFlag(cmd, &o.Project)
	return cmd
}

func newRegistryList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List registries and bindings",
		Long: `The list shows the sources in which skillpm looks up packs by name: registries of the project
and the user, and registries of bound owners. It also shows your local packs and the embedded
index if skillpm looks up packs there. The mark (enforced) means that the administrator of the
machine bound the owner.`,
		Example: `  skillpm registry list
  skillpm registry list --json
  skillpm registry list -C ../other-project`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.Registries(cmd.Context())
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			enforced, publishers := map[string]bool{}, map[string]string{}
			for _, b := range r.Bindings {
				enforced[b.Owner], publishers[b.Owner] = b.Enforced, b.Publisher
				if b.Rebound != "" {
					a.Warn("cannot find packs of %s in this project: skillpm.yaml binds the owner to %s, and your settings to %s",
						b.Owner, b.Rebound, b.Registry)
				}
				if b.Unknown {
					a.Warn("cannot find packs of %s: %s binds the owner to the unknown registry %s", b.Owner,
						b.From, b.Registry)
				}
			}
			rows := [][]string{{"NAME", "URL", "OWNERS", "FROM"}}
			for _, e := range r.Registries {
				var owners []string
				for _, owner := range e.Namespaces {
					if enforced[owner] {
						owner += " (enforced)"
					}
					if p := publishers[strings.TrimSuffix(owner, " (enforced)")]; p != "" {
						owner += " (" + p + ")"
					}
					owners = append(owners, owner)
				}
				name := e.Name
				if strings.ContainsAny(name, ":/") {
					name = "-"
				}
				rows = append(rows, []string{name, e.URL, strings.Join(owners, ", "), e.From})
			}
			if err := console.Table(a.Stdout, rows); err != nil {
				return err
			}
			a.Note("%s.", textx.CountOf(len(rows)-1, "registry", "registries"))
			return nil
		},
	}
}

func newRegistryRemove(a *app) *cobra.Command {
	inProject := false
	cmd := &cobra.Command{
		Use:     "remove NAME|URL",
		Aliases: []string{"rm"},
		Short:   "Remove a registry",
		Long: `The command also removes the bindings of owners to the registry. Packs from the registry
stay installed and locked.`,
		Example: `  skillpm registry remove acme
  skillpm registry remove team --scope project
  skillpm registry rm acme --json`,
		Args:              console.Need(1, 1, "one NAME or URL"),
		ValidArgsFunction: a.completeRegistryNames(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.RegistryRemove(cmd.Context(), args[0], inProject)
			if err != nil {
				return err
			}
			text := "Removed registry " + r.Name
			if len(r.Namespaces) > 0 {
				text += " and the bindings of " + strings.Join(r.Namespaces, ", ")
			}
			text += "."
			return a.printRegistryChange(r, text)
		},
	}
	settingsScopeFlag(cmd, &inProject)
	return cmd
}

func newRegistryBind(a *app) *cobra.Command {
	inProject, undo, accept, publisher := false, false, false, ""
	cmd := &cobra.Command{
		Use:   "bind OWNER [NAME|URL]",
		Short: "Bind an owner to one registry",
		Long: `skillpm looks up the packs of a bound owner only in one registry. No other registry can
offer packs of this owner. Users cannot change bindings that the administrator of the
machine created. --undo removes a binding.

With --publisher, skillpm rejects packs of the owner that another publisher signed, or nobody.
A publisher is a repository whose CI jobs sign without a key. skillpm-keyless verifies such
signatures.

  github:OWNER/REPO/.github/workflows/FILE   a workflow of GitHub Actions
  github:OWNER/REPO                          any workflow of the repository
  gitlab:GROUP/PROJECT                       a project of GitLab CI
  gitlab://HOST/GROUP/PROJECT                on another server, also for github
  github:OWNER/REPO@refs/tags/v*             only for such a tag or branch

If a project binds an owner to another registry than your settings, skillpm does not look up
the owner's packs in that project until you accept the binding with --accept. skillpm
records that outside the project, for this project and this registry only.`,
		Example: `  skillpm registry bind acme oci://registry.example/acme
  skillpm registry bind acme team --publisher github:acme/skills@refs/tags/v*
  skillpm registry bind globex team --scope project
  skillpm registry bind acme oci://registry.example/team --accept
  skillpm registry bind acme --undo`,
		Args: console.Need(1, 2, "an OWNER and a registry"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if undo && len(args) == 0 {
				return a.completeBound(cmd, prefix)
			}
			return a.completeRegistryNames(1)(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if publisher != "" && (accept || undo) {
				return diag.Errorf(diag.Usage, "--publisher cannot be used with --accept or --undo")
			}
			if accept {
				return a.acceptBinding(cmd, args, undo)
			}
			if undo == (len(args) == 2) {
				return diag.Errorf(diag.Usage, "skillpm registry bind needs either a registry or --undo")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			if undo {
				r, err := c.RegistryUnbind(cmd.Context(), args[0], inProject)
				if err != nil {
					return err
				}
				return a.printRegistryChange(r, "Removed the binding of "+args[0]+".")
			}
			r, err := c.RegistryBind(cmd.Context(), skillpm.RegistryBindOptions{
				Owner: args[0], Registry: args[1], Publisher: publisher, Project: inProject,
			})
			if err != nil {
				return err
			}
			text := fmt.Sprintf("Bound %s to %s", args[0], args[1])
			if publisher != "" {
				text += " and to the publisher " + publisher
			}
			return a.printRegistryChange(r, text+".")
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "remove the binding")
	cmd.Flags().StringVar(&publisher, "publisher", "", "reject packs of OWNER that `PUBLISHER` did not sign")
	cmd.Flags().BoolVar(&accept, "accept", false, "accept that the project binds OWNER to this registry")
	settingsScopeFlag(cmd, &inProject)
	return cmd
}

// acceptBinding accepts a binding of the project, or takes that back.
func (a *app) acceptBinding(cmd *cobra.Command, args []string, undo bool) error {
	if len(args) != 2 || cmd.Flags().Changed("scope") {
		return diag.Errorf(diag.Usage, "--accept requires an OWNER and a registry, and cannot be used with --scope")
	}
	c, err := a.Client()
	if err != nil {
		return err
	}
	r, err := c.RegistryAccept(cmd.Context(), skillpm.RegistryAcceptOptions{
		Owner: args[0], Registry: args[1], Undo: undo,
	})
	if err != nil {
		return err
	}
	text := fmt.Sprintf("Accepted that this project binds %s to %s.", args[0], r.URL)
	if undo {
		text = fmt.Sprintf("No longer accepted: this project binds %s to %s.", args[0], r.URL)
	}
	return a.printRegistryChange(r, text)
}

// completeBound completes the owners whose binding can be removed.
func (a *app) completeBound(cmd *cobra.Command, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var owners []string
	if r, err := c.Registries(cmd.Context()); err == nil {
		for _, b := range r.Bindings {
			if !b.Enforced {
				owners = append(owners, b.Owner)
			}
		}
	}
	return console.Matching(owners, prefix), cobra.ShellCompDirectiveNoFileComp
}

// completeRegistryNames completes the nth argument with registry names.
func (a *app) completeRegistryNames(position int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		c, err := a.Client()
		if err != nil || len(args) != position {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return console.Matching(c.RegistryNames(), prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// printRegistryChange prints what changed in which file.
func (a *app) printRegistryChange(r *skillpm.RegistryChange, text string) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	if !r.Changed {
		a.Note("Nothing to change in %s.", r.File)
		return nil
	}
	a.Note("%s", text)
	if a.Verbose > 0 {
		a.Note("Wrote %s.", r.File)
	}
	for _, n := range r.Notes {
		a.Note("%s", n)
	}
	return nil
}
