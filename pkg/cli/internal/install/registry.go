package install

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newRegistry(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "registry",
		Short:   "Say where packs are looked up",
		GroupID: "use",
		Long: `Say where packs are looked up by name. A registry is an index, which lists packs
and says where each is, or a place in an OCI registry that has them:

  https://HOST/PATH        an index on a web server
  git+https://HOST/REPO    an index in a git repository
  index+oci://HOST/REPO    an index in an OCI registry
  oci://HOST/NAMESPACE     packs below a namespace of an OCI registry
  oci-layout:DIR, DIR      packs in a layout, an index in a directory

A name is asked of all indexes; an owner that is bound to a registry is looked up
there and nowhere else. Settings are the user's, in config.yaml, or with --project
the project's, in skillpm.yaml. Comments in these files stay.`,
		Example: `  skillpm registry add acme https://packs.example/index --namespace acme
  skillpm registry bind globex oci://registry.example/globex
  skillpm registry list`,
		Args: cobra.ArbitraryArgs,
		RunE: console.UnknownCommand,
	}
	for _, c := range []*cobra.Command{
		newRegistryAdd(a), newRegistryList(a), newRegistryRemove(a), newRegistryBind(a),
		newRegistryUnbind(a),
	} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func projectFlag(cmd *cobra.Command, target *bool) {
	cmd.Flags().BoolVar(target, "project", false, "in this project's skillpm.yaml, and not in the user's settings")
}

func newRegistryAdd(a *app) *cobra.Command {
	var o skillpm.RegistryAddOptions
	cmd := &cobra.Command{
		Use:   "add NAME URL",
		Short: "Add a registry",
		Long: `Add a registry under a name of your choice. It is asked first whether it is one;
nothing is added if it does not answer. With --namespace the packs of an owner are
looked up there and nowhere else.`,
		Example: `  skillpm registry add acme https://packs.example/index --namespace acme
  skillpm registry add team git+https://git.example/team/index.git --project`,
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
			return a.printRegistryChange(r, fmt.Sprintf("%s is %s", r.Name, r.URL))
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Namespaces, "namespace", nil, "look the packs of `OWNER` up there and nowhere else")
	f.BoolVar(&o.NoCheck, "no-check", false, "do not ask whether it answers")
	projectFlag(cmd, &o.Project)
	return cmd
}

func newRegistryList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List registries, and what is bound to them",
		Long: `List the registries that names are looked up in: those of the project, of the user,
those that owners are bound to, and the two that are asked last, what you
published locally and what comes with skillpm. What the machine's administrator
bound is marked: it cannot be changed.`,
		Example: "  skillpm registry list\n  skillpm registry list --json",
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
			enforced := map[string]bool{}
			for _, b := range r.Bindings {
				enforced[b.Owner] = b.Enforced
				if b.Unknown {
					a.Warn("%s is bound to %s in %s, and no registry is called so: its packs are not found", b.Owner,
						b.Registry, b.From)
				}
			}
			rows := [][]string{{"NAME", "URL", "OWNERS", "FROM"}}
			for _, e := range r.Registries {
				var owners []string
				for _, owner := range e.Namespaces {
					if enforced[owner] {
						owner += " (enforced)"
					}
					owners = append(owners, owner)
				}
				name := e.Name
				if strings.ContainsAny(name, ":/") {
					name = "-"
				}
				rows = append(rows, []string{name, e.URL, strings.Join(owners, ", "), e.From})
			}
			return console.Table(a.Stdout, rows)
		},
	}
}

func newRegistryRemove(a *app) *cobra.Command {
	inProject := false
	cmd := &cobra.Command{
		Use:     "remove NAME|URL",
		Aliases: []string{"rm"},
		Short:   "Remove a registry",
		Long: `Remove a registry from the settings, and what is bound to it there. Packs that were
installed from it stay as they are locked.`,
		Example:           "  skillpm registry remove acme\n  skillpm registry remove team --project",
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
			text := r.Name + " was removed"
			if len(r.Namespaces) > 0 {
				text += ", and the bindings of " + strings.Join(r.Namespaces, ", ")
			}
			return a.printRegistryChange(r, text)
		},
	}
	projectFlag(cmd, &inProject)
	return cmd
}

func newRegistryBind(a *app) *cobra.Command {
	inProject := false
	cmd := &cobra.Command{
		Use:   "bind OWNER NAME|URL",
		Short: "Look an owner's packs up in one registry only",
		Long: `Look the packs of an owner up in one registry and nowhere else, whatever other
registries have: so nobody can slip in a pack under that owner's name. What the
machine's administrator bound cannot be changed.`,
		Example: "  skillpm registry bind acme oci://registry.example/acme\n  skillpm registry bind " +
			"globex team --project",
		Args:              console.Need(2, 2, "an OWNER and a registry"),
		ValidArgsFunction: a.completeRegistryNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.RegistryBind(cmd.Context(), args[0], args[1], inProject)
			if err != nil {
				return err
			}
			return a.printRegistryChange(r, fmt.Sprintf("%s is looked up in %s only", args[0], args[1]))
		},
	}
	projectFlag(cmd, &inProject)
	return cmd
}

func newRegistryUnbind(a *app) *cobra.Command {
	inProject := false
	cmd := &cobra.Command{
		Use:     "unbind OWNER",
		Short:   "Take the binding of an owner back",
		Long:    "Take the binding of an owner back: its packs are looked up in all indexes again.",
		Example: "  skillpm registry unbind acme",
		Args:    console.Need(1, 1, "one OWNER"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			c, err := a.Client()
			if err != nil || len(args) > 0 {
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
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.RegistryUnbind(cmd.Context(), args[0], inProject)
			if err != nil {
				return err
			}
			return a.printRegistryChange(r, args[0]+" is not bound any more")
		},
	}
	projectFlag(cmd, &inProject)
	return cmd
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
		a.Note("%s says so already: nothing to do", r.File)
		return nil
	}
	a.Note("%s; %s was written", text, r.File)
	for _, n := range r.Notes {
		a.Note("%s", n)
	}
	return nil
}
