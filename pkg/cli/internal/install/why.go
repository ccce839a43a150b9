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
		Use:     "why PACK|SKILL",
		Short:   "Say why a pack or a skill is installed",
		GroupID: "use",
		Long: fmt.Sprintf(`Show the chains of requirements that lead from skillpm.yaml to a pack
(owner/name), each pack with its version and what is required of it: the %d
shortest, and how many more there are.

Of a skill (its name, the alias that agents see, or exactly skill@owner/name)
it shows the same for its pack, and whether agents know it under its own name:
if not, which pack's skill has the name, and why. Where several packs have a
skill of that name, each is shown.

Only what is installed is looked at; no network is used.`, graph.MaxChains),
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
	fmt.Fprintf(a.Stdout, "%s %s\n", p.Bold(console.Printable(name)), console.Printable(w.Version))
	if w.Skill != nil {
		a.printWhyName(w.Skill)
	}
	switch {
	case len(w.Chains) > 0:
	case w.Linked != "":
		fmt.Fprintf(a.Stdout, "  skillpm link put it here; skillpm.yaml does not require it\n")
	default:
		fmt.Fprintf(a.Stdout, "  nothing requires it any more; skillpm install removes it\n")
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
		fmt.Fprintf(a.Stdout, "  %s\n", p.Dim(fmt.Sprintf("and %s%s more", least, textx.Count(w.More, "chain"))))
	}
}

func (a *app) printStep(s skillpm.WhyStep) {
	p := a.Palette(a.Stdout)
	text := " " + p.Dim("→") + " " + console.Printable(s.Pack)
	if s.Version != "" {
		text += " " + console.Printable(s.Version)
	}
	if s.Range != "" {
		text += " " + p.Dim("for "+console.Printable(s.Range))
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
		fmt.Fprintf(a.Stdout, "  agents see %s, as %s\n", console.Printable(s.Link), console.Printable(s.Reason))
	case s.Winner != "":
		fmt.Fprintf(a.Stdout, "  agents see %s; %s is %s@%s, as %s\n", console.Printable(s.Link),
			console.Printable(s.Name), console.Printable(s.Name), s.Winner, console.Printable(s.Reason))
	default:
		fmt.Fprintf(a.Stdout, "  agents see %s and not %s, as %s\n", console.Printable(s.Link),
			console.Printable(s.Name), console.Printable(s.Reason))
	}
}
