package serve

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

func newWhich(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "which NAME",
		Short: "Show which skill a name refers to",
		Long: `The output has the path of the skill that NAME refers to. It also lists all other skills
with this name, and why they are not available: shadowed, filtered, or invalid.
name@owner/name refers to the skill of that pack, even if the skill is shadowed.

Exit code 4 means that no available skill has the name.`,
		Example: `  skillpm which deploy
  skillpm which deploy@acme/deploy
  skillpm which deploy --profile claude-code --json`,
		Args: console.Need(1, 1, "one NAME"),
	}
	serve := a.RuntimeFlags(cmd)
	cmd.ValidArgsFunction = a.completeClaims
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := a.Host(cmd.Context(), serve)
		if err != nil {
			return err
		}
		c, err := h.Catalog(cmd.Context())
		if err != nil {
			return err
		}
		_, missing := c.Lookup(args[0])
		claims := c.Which(args[0])
		if len(claims.All()) == 0 {
			return missing
		}
		if err := a.printClaims(h, claims); err != nil || missing == nil {
			return err
		}
		if a.JSON { // the document is complete
			a.JSON = false
			a.Report(cmd, missing)
			return console.Reported{Exit: diag.CodeOf(missing)}
		}
		return missing
	}
	return cmd
}

// printClaims prints all skills with a name.
func (a *app) printClaims(h *runtime.Host, claims catalog.Claims) error {
	if a.JSON {
		list := []skillJSON{}
		var winner *skillJSON
		for _, e := range claims.All() {
			s := newSkillJSON(e)
			if e.Skill == claims.Winner {
				winner = &s
				continue
			}
			list = append(list, s)
		}
		return a.PrintJSON(whichDocument{claims.Name, winner, list})
	}
	var rows [][]string
	for _, e := range claims.All() {
		layer := e.Layer
		if e.Pack != "" {
			layer += " " + e.Pack
			if e.Version != "" {
				layer += "@" + e.Version
			}
		}
		rows = append(rows, []string{displayPath(h, e.Path()), layer, string(e.State), e.Reason})
	}
	return console.Table(a.Stdout, rows)
}

// completeClaims completes the names of all skills, including shadowed ones.
func (a *app) completeClaims(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	names, directive := a.CompleteSkills(cmd, args, prefix)
	c := a.CompletionCatalog(cmd)
	if c == nil || len(args) > 0 {
		return names, directive
	}
	for _, e := range c.All() {
		_, err := c.Lookup(e.Name)
		if errors.As(err, new(*catalog.UnknownError)) {
			names = append(names, console.Matching([]string{e.Name}, prefix)...)
		}
	}
	return names, directive
}
