package install

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack/graph"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

var graphFormats = []string{"text", "dot", "mermaid", "svg", "json"}

func newTree(a *app) *cobra.Command {
	var o skillpm.GraphOptions
	var format string
	var draw graph.Options
	cmd := &cobra.Command{
		Use:   "tree",
		Short: "Show the dependency tree of installed packs",
		Long: `The tree starts with the packs that skillpm.yaml requires, and shows the versions and ranges
of their dependencies in skillpm.lock. --invert shows which packs require a pack. The
command does not change anything or use the network.

Marks of the text tree:

  (*)              the tree shows the dependencies nearer to skillpm.yaml
  (dev)            a development dependency
  (not installed)  skillpm.lock does not contain the pack
  (linked to DIR)  "skillpm link" linked the pack
  (...)            --depth hides the dependencies

The format dot is for Graphviz, and mermaid is for Markdown. svg is a picture that adapts
to light and dark mode. --skills adds the skills, with the aliases that agents see.`,
		Example: `  skillpm tree
  skillpm tree --depth 1 --skills
  skillpm tree --invert acme/kubectl-basics
  skillpm tree --format svg > packs.svg
  skillpm tree --format dot | dot -Tpng -o packs.png`,
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
	f.StringVar(&format, "format", "text", "print the tree as `FORMAT`: text, dot, mermaid, svg, or json")
	f.StringVar(&o.Invert, "invert", "", "show which packs require `PACK`")
	f.IntVar(&o.Depth, "depth", 0, fmt.Sprintf("show at most `N` levels (default of the text tree: %d)",
		graph.MaxDepth))
	f.BoolVar(&draw.Skills, "skills", false, "show the skills of each pack")
	f.BoolVar(&draw.ASCII, "ascii", false, "draw the text tree with ASCII characters")
	scopeFlag(cmd, &o.Scope)
	a.CompleteFlag(cmd, "format", cobra.FixedCompletions(graphFormats, cobra.ShellCompDirectiveNoFileComp))
	a.CompleteFlag(cmd, "invert", a.completeLockedPacks)
	a.CompleteFlag(cmd, "depth", cobra.NoFileCompletions)
	return cmd
}

func checkGraph(format string, depth int, limited bool) error {
	if limited && depth < 1 {
		return diag.Errorf(diag.Usage, "--depth must be at least 1, not %d", depth)
	}
	if slices.Contains(graphFormats, format) {
		return nil
	}
	err := diag.Errorf(diag.Usage, "unknown --format %q", format)
	if near := diag.Nearest(format, graphFormats); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("use %s", textx.OneOf(graphFormats))
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
		a.Note("No packs installed. Add one with: skillpm install OWNER/NAME")
	}
	return a.Paged(func() error {
		_, err := fmt.Fprint(a.Stdout, text)
		return err
	})
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
