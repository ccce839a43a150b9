package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newList(a *app) *cobra.Command {
	var scope string
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List installed packs and their skills",
		GroupID: "use",
		Example: "  skillpm list\n  skillpm list --scope user\n  skillpm list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			r, err := c.List(cmd.Context(), scope)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(r)
			}
			if len(r.Packs) == 0 {
				a.note("nothing is installed; skillpm install owner/name installs a pack")
				return nil
			}
			rows := [][]string{{"PACK", "VERSION", "SKILLS", "SOURCE"}}
			for _, p := range r.Packs {
				var names []string
				for _, s := range p.Skills {
					name := s.Name
					if s.Link != s.Name {
						name += " (as " + s.Link + ")"
					}
					names = append(names, name)
				}
				source := p.Source
				switch {
				case p.Linked != "":
					source = "linked to " + p.Linked
				case !p.Direct:
					source += " (dependency)"
				}
				rows = append(rows, []string{p.Pack, p.Version, strings.Join(names, ", "), source})
			}
			return table(a.Stdout, rows)
		},
	}
	scopeFlag(cmd, &scope)
	return cmd
}

func newInfo(a *app) *cobra.Command {
	var scope, registry string
	cmd := &cobra.Command{
		Use:     "info PACK|SKILL",
		Aliases: []string{"show"},
		Short:   "Describe a pack, or an installed skill",
		GroupID: "use",
		Long: `Describe a pack (owner/name), installed or on offer, or an installed skill: by
its name, or exactly as skill@owner/name.`,
		Example: "  skillpm info acme/deploy\n  skillpm info deploy\n  skillpm info deploy@acme/deploy",
		Args:    need(1, 1, "one PACK or SKILL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			info, err := c.Info(cmd.Context(), args[0], scope, registry)
			if err != nil {
				return err
			}
			switch {
			case a.json:
				return a.printJSON(info)
			case info.Skill != nil:
				return a.printSkill(info)
			}
			return a.printPackInfo(info.Pack)
		},
		ValidArgsFunction: a.completePacksAndSkills,
	}
	cmd.Flags().StringVar(&registry, "registry", "", "look names up in registry `R` only")
	scopeFlag(cmd, &scope)
	return cmd
}

// field prints one line of a description, unless the value is empty.
func (a *app) field(name, value string) {
	if value != "" {
		fmt.Fprintf(a.Stdout, "%-13s %s\n", name+":", printable(value))
	}
}
