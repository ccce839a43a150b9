package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newList(a *app) *cobra.Command {
	var scope string
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List installed packs and their skills",
		GroupID: "use",
		Long: `List the packs that skillpm.lock has, their skills and where they come from. What
is locked and not there, as in a fresh clone, is marked as not installed, and a
skill that somebody changed as edited, one that a policy denies as denied: --json
has the reasons. Only what looks changed is read: skillpm
verify looks at every byte.`,
		Example: "  skillpm list\n  skillpm list --scope user\n  skillpm list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.List(cmd.Context(), scope)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			if len(r.Packs) == 0 {
				a.Note("nothing is installed; skillpm install owner/name installs a pack")
				return nil
			}
			rows := [][]string{{"PACK", "VERSION", "SKILLS", "SOURCE"}}
			signed := slices.ContainsFunc(r.Packs, func(p skillpm.PackReport) bool { return p.SignedBy != "" })
			if signed {
				rows[0] = append(rows[0], "SIGNED BY")
			}
			for _, p := range r.Packs {
				var names []string
				for _, s := range p.Skills {
					name := s.Name
					if s.Link != s.Name {
						name += " (as " + s.Link + ")"
					}
					switch {
					case s.Unapproved:
						name += " (not approved)"
					case s.Denied != "":
						name += " (denied)"
					}
					switch {
					case s.Edited:
						name += " (edited)"
					case !s.Installed && anyInstalled(p):
						name += " (not installed)"
					}
					names = append(names, name)
				}
				source := sourceOf(p)
				switch {
				case p.Linked != "":
					source = "linked to " + p.Linked
				case !p.Direct:
					source += " (dependency)"
				}
				if !p.Installed {
					source += " (not installed: skillpm install)"
				}
				row := []string{p.Pack, p.Version, strings.Join(names, ", "), source}
				if signed {
					row = append(row, shortSigner(p.SignedBy))
				}
				rows = append(rows, row)
			}
			return console.Table(a.Stdout, rows)
		},
	}
	scopeFlag(cmd, &scope)
	return cmd
}

// shortSigner returns the start of a key's fingerprint, or an identity unchanged.
func shortSigner(fingerprint string) string {
	const digits = 12
	if kind, rest, ok := strings.Cut(fingerprint, ":"); ok && strings.EqualFold(kind, "sha256") && len(rest) > digits {
		return kind + ":" + rest[:digits] + "…"
	}
	return fingerprint
}

// anyInstalled reports whether any skill of a pack is installed.
func anyInstalled(p skillpm.PackReport) bool {
	return slices.ContainsFunc(p.Skills, func(s skillpm.SkillReport) bool { return s.Installed })
}

func newInfo(a *app) *cobra.Command {
	var scope, registry string
	cmd := &cobra.Command{
		Use:     "info PACK|SKILL",
		Aliases: []string{"show"},
		Short:   "Describe a pack, or an installed skill",
		GroupID: "use",
		Long: `Describe a pack (owner/name), installed or on offer, or an installed skill: by
its name, or exactly as skill@owner/name. With a version or range it is the
highest version on offer that fits, whatever is installed.`,
		Example: "  skillpm info acme/deploy\n  skillpm info acme/deploy@1.3.0\n  skillpm info deploy\n  skillpm " +
			"info deploy@acme/deploy",
		Args: console.Need(1, 1, "one PACK or SKILL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			info, err := c.Info(cmd.Context(), args[0], scope, registry)
			if err != nil {
				return err
			}
			switch {
			case a.JSON:
				return a.PrintJSON(info)
			case info.Skill != nil:
				return a.printSkill(info)
			}
			return a.printPackInfo(info.Pack)
		},
		ValidArgsFunction: a.CompletePacksAndSkills,
	}
	cmd.Flags().StringVar(&registry, "registry", "", "look names up in registry `R` only")
	scopeFlag(cmd, &scope)
	return cmd
}

// field prints one line of a description, unless the value is empty.
func (a *app) field(name, value string) {
	if value != "" {
		fmt.Fprintf(a.Stdout, "%-13s %s\n", name+":", console.Printable(value))
	}
}
