package install

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack/graph"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newWhy(a *app) *cobra.Command {
	var scope string
	cmd := &cobra.Command{
		Use:   "why PACK|SKILL",
		Short: "Show why a pack or skill is installed",
		Long: fmt.Sprintf(`The output shows the chains of packs from skillpm.yaml to PACK, with versions and ranges: the
%d shortest chains, and the number of other chains. PACK is an owner/name.

SKILL is the name of a skill, its alias, or skill@owner/name. The output shows the chains of
its pack, and whether agents see the skill under its own name. If another skill has the name,
the output shows that skill and the reason.

The command does not use the network.`, graph.MaxChains),
		Example: `  skillpm why acme/kubectl-basics
  skillpm why deploy
  skillpm why deploy@acme/deploy --json`,
		Args: console.Need(1, 1, "one PACK or SKILL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.Why(cmd.Context(), args[0], scope)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			for _, w := range r.Warnings {
				a.Warn("%s", w)
			}
			for _, found := range r.Found {
				a.printWhy(found)
			}
			return nil
		},
		ValidArgsFunction: a.CompleteLocked,
	}
	scopeFlag(cmd, &scope)
	return cmd
}

func (a *app) printWhy(w skillpm.Why) {
	p := a.Palette(a.Stdout)
	name := w.Pack
	if w.Skill != nil {
		name = w.Skill.Name + "@" + w.Pack
	}
	fmt.Fprintf(a.Stdout, "%s %s\n", p.Bold(name), w.Version)
	if w.Skill != nil {
		a.printWhyName(w.Skill)
	}
	switch {
	case len(w.Chains) > 0:
	case w.Linked != "":
		fmt.Fprintf(a.Stdout, "  added by \"skillpm link\"; skillpm.yaml does not require the pack\n")
	default:
		fmt.Fprintf(a.Stdout, "  no longer required; \"skillpm install\" removes the pack\n")
	}
	if w.Linked != "" {
		fmt.Fprintf(a.Stdout, "  linked to %s\n", console.Printable(w.Linked))
	}
	for _, chain := range w.Chains {
		fmt.Fprintf(a.Stdout, "  skillpm.yaml")
		for _, s := range chain {
			a.printStep(s)
		}
		fmt.Fprintln(a.Stdout)
	}
	if w.More > 0 {
		least := ""
		if w.AtLeast {
			least = "at least "
		}
		fmt.Fprintf(a.Stdout, "  %s\n", p.Dim(fmt.Sprintf("and %s%s", least, textx.Count(w.More, "more chain"))))
	}
}

func (a *app) printStep(s skillpm.WhyStep) {
	p := a.Palette(a.Stdout)
	text := " " + p.Dim("→") + " " + s.Pack
	if s.Version != "" {
		text += " " + s.Version
	}
	if s.Range != "" {
		text += " " + p.Dim("for "+s.Range)
	}
	if s.Dev {
		text += " " + p.Yellow("(dev)")
	}
	fmt.Fprint(a.Stdout, text)
}

// printWhyName prints the names of a skill for agents, and which skill a name belongs to.
func (a *app) printWhyName(s *skillpm.WhySkill) {
	switch {
	case s.OwnName:
		fmt.Fprintf(a.Stdout, "  agents see %s, because %s\n", console.Printable(s.Link), console.Printable(s.Reason))
	case s.Winner != "":
		fmt.Fprintf(a.Stdout, "  agents see %s; %s refers to %s@%s, because %s\n", console.Printable(s.Link),
			s.Name, s.Name, s.Winner, s.Reason)
	default:
		fmt.Fprintf(a.Stdout, "  agents see %s instead of %s, because %s\n", console.Printable(s.Link),
			s.Name, s.Reason)
	}
}
