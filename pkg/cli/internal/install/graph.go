package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack/graph"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

var graphFormats = []string{"text", "dot", "mermaid", "svg", "json"}

func newGraph(a *app) *cobra.Command {
	var o skillpm.GraphOptions
	var format string
	var draw graph.Options
	cmd := &cobra.Command{
		Use:     "graph",
		Aliases: []string{"tree"},
		Short:   "Draw which installed pack requires which",
		GroupID: "use",
		Long: `Draw what skillpm.lock has: from skillpm.yaml down to the packs that only other
packs require, each with its version and what is required of it. No network is
used, and nothing is changed.

The text tree shows what a pack requires once, where the pack is nearest to
skillpm.yaml; elsewhere the pack is marked (*). What is required for development
only is marked (dev), a requirement that is not in skillpm.lock (not installed),
a pack from skillpm link (linked to DIR), and one whose requirements --depth
leaves out (…). With --invert the tree grows the other way: from one pack up to
what requires it.

DOT is for Graphviz, Mermaid for Markdown; SVG is a picture that needs nothing
else and follows the reader's light or dark colours. --skills adds the skills,
"as" followed by the name that agents know them under where that is another.`,
		Example: `  skillpm graph
  skillpm graph --depth 1 --skills
  skillpm graph --invert acme/kubectl-basics
  skillpm graph --format svg > packs.svg
  skillpm graph --format dot | dot -Tpng -o packs.png`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkGraph(format, o.Depth, cmd.Flags().Changed("depth")); err != nil {
				return err
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.Graph(cmd.Context(), o)
			if err != nil {
				return err
			}
			draw.Depth = o.Depth
			return a.printGraph(r, format, draw)
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "text", "print `text|dot|mermaid|svg|json`")
	f.StringVar(&o.Invert, "invert", "", "draw what requires `PACK`")
	f.IntVar(&o.Depth, "depth", 0, fmt.Sprintf("draw `N` levels at most; a text tree has %d unless told otherwise",
		graph.MaxDepth))
	f.BoolVar(&draw.Skills, "skills", false, "with the skills of each pack")
	f.BoolVar(&draw.ASCII, "ascii", false, "draw the text tree without box-drawing characters")
	scopeFlag(cmd, &o.Scope)
	a.CompleteFlag(cmd, "format", cobra.FixedCompletions(graphFormats, cobra.ShellCompDirectiveNoFileComp))
	a.CompleteFlag(cmd, "invert", a.completeLockedPacks)
	a.CompleteFlag(cmd, "depth", cobra.NoFileCompletions)
	return cmd
}

func checkGraph(format string, depth int, limited bool) error {
	if limited && depth < 1 {
		return diag.Errorf(diag.Usage, "--depth %d: at least one level is drawn", depth)
	}
	if slices.Contains(graphFormats, format) {
		return nil
	}
	err := diag.Errorf(diag.Usage, "unknown format %q", format)
	if near := diag.Nearest(format, graphFormats); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("there are %s", strings.Join(graphFormats, ", "))
}

func (a *app) printGraph(r *skillpm.GraphReport, format string, o graph.Options) error {
	if a.JSON || format == "json" {
		return a.PrintJSON(r)
	}
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	var text string
	switch format {
	case "dot":
		text = r.Part.DOT(o)
	case "mermaid":
		text = r.Part.Mermaid(o)
	case "svg":
		text = r.Part.SVG(o)
	default:
		o.Paint = a.Palette(a.Stdout).Tree
		if r.Pack.IsZero() {
			text = r.All.Tree(o)
		} else {
			text = r.All.Inverted(r.Pack, o)
		}
	}
	if len(r.Packs) == 0 {
		a.Note("nothing is installed; skillpm install owner/name installs a pack")
	}
	_, err := fmt.Fprint(a.Stdout, text)
	return err
}

// completeLockedPacks completes installed packs.
func (a *app) completeLockedPacks(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	packs, _ := c.LockedNames(cmd.Flag("scope").Value.String())
	return console.Matching(packs, prefix), cobra.ShellCompDirectiveNoFileComp
}
