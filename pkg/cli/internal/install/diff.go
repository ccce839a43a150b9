package install

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newDiff(a *app) *cobra.Command {
	var o skillpm.DiffOptions
	var stat, names bool
	cmd := &cobra.Command{
		Use:   "diff [PACK[@RANGE]...]",
		Short: "Show how an update changes skills",
		Long: `The command compares the installed skills with the versions that "skillpm update" would
install. PACK selects a pack or, with @, a version or range of a pack. The command fetches
new versions into the store, but does not install them.

The first lines start with # and are a summary. It begins with the capabilities that the
update adds and the restrictions that it lifts, with their lines. Then it shows added and
removed skills, changed scripts, and new URLs and dependencies. The other lines are a unified
diff for "git apply".

If a registry or source is unreachable, skillpm skips its packs with a warning, and the exit
code is 8. With --edits, the command shows only the local edits of installed skills.`,
		Example: `  skillpm diff
  skillpm diff acme/deploy@^2 --stat
  skillpm diff --latest
  skillpm diff --edits > edits.patch`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if stat && names {
				return diag.Errorf(diag.Usage, "--stat cannot be used with --name-only")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			o.Packs = args
			r, err := c.Diff(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := a.printDifference(r, o, stat, names); err != nil || len(r.Unreached) == 0 {
				return err
			}
			return console.Reported{Exit: diag.Remote}
		},
		ValidArgsFunction: a.CompleteLocked,
	}
	f := cmd.Flags()
	f.BoolVar(&o.Latest, "latest", false, "compare with the newest versions, even outside the ranges in skillpm.yaml")
	f.BoolVar(&o.Edits, "edits", false, "show only the local edits of installed skills")
	f.BoolVar(&stat, "stat", false, "show only the summary and the number of changed lines of each file")
	f.BoolVar(&names, "name-only", false, "show only the names of changed files")
	f.StringVar(&o.Registry, "registry", "",
		"look names up only in the registry `REGISTRY`")
	f.BoolVar(&o.Offline, "offline", false, "do not use the network")
	scopeFlag(cmd, &o.Scope)
	return cmd
}

// printDifference prints the changes.
func (a *app) printDifference(r *skillpm.DiffReport, o skillpm.DiffOptions, stat, names bool) error {
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	if len(r.Packs) == 0 {
		text := "No changes."
		switch {
		case len(r.Unreached) > 0:
			text = "Nothing to compare: sources are unreachable."
		case o.Edits:
			text = "No local edits."
		}
		a.Note("%s", text)
		return nil
	}
	return a.Paged(func() error { return a.printPacks(r, o, stat, names) })
}

// printPacks prints the changes of each pack: names, sizes, or lines.
func (a *app) printPacks(r *skillpm.DiffReport, o skillpm.DiffOptions, stat, names bool) error {
	if names {
		for _, p := range r.Packs {
			for _, f := range p.Files {
				fmt.Fprintln(a.Stdout, console.Printable(f.Path))
			}
		}
		return nil
	}
	a.printSummary(r, o)
	if stat {
		return a.printStat(r)
	}
	for _, p := range r.Packs {
		a.PrintDiff(a.Stdout, p.Files.String(), false)
	}
	return nil
}

// printSummary prints the important changes in lines that patch tools ignore.
func (a *app) printSummary(r *skillpm.DiffReport, o skillpm.DiffOptions) {
	p := a.Palette(a.Stdout)
	for _, line := range console.IncreaseLines(r.Increases()) {
		fmt.Fprintln(a.Stdout, p.Yellow("# "+line))
	}
	for _, pack := range r.Packs {
		s := pack.Files.Stat()
		what := pack.From + " → " + pack.To
		switch {
		case o.Edits:
			what = pack.From + ", edited"
		case pack.From == "":
			what = pack.To + ", new"
		case pack.To == "":
			what = pack.From + ", no longer required"
		}
		fmt.Fprintf(a.Stdout, "# %s %s: %s changed, +%d -%d\n", p.Bold(pack.Pack), what,
			textx.Count(s.Files, "file"), s.Insertions, s.Deletions)
		counts := map[string]int{}
		for _, n := range pack.Notes {
			if counts[n.Kind]++; counts[n.Kind] <= console.MaxNotes {
				text := n.Text
				if n.Path != "" {
					text = n.Path + ": " + text
				}
				fmt.Fprintln(a.Stdout, p.Yellow("#   ! "+console.NoteLine(text)))
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(counts)) {
			if n := counts[kind]; n > console.MaxNotes {
				fmt.Fprintln(a.Stdout, p.Yellow(fmt.Sprintf("#   ! … and %d more changes of the kind %s", n-console.MaxNotes,
					kind)))
			}
		}
	}
}

// printStat prints the size of the change of each file.
func (a *app) printStat(r *skillpm.DiffReport) error {
	var rows [][]string
	for _, p := range r.Packs {
		for _, f := range p.Files {
			change := fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
			switch {
			case f.Binary:
				change = fmt.Sprintf("binary, %d → %d bytes", f.OldSize, f.NewSize)
			case f.Large:
				change = fmt.Sprintf("large, %d → %d bytes", f.OldSize, f.NewSize)
			}
			rows = append(rows, []string{f.Path, string(f.Status), change})
		}
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s changed, +%d -%d\n", textx.Count(r.Stat.Files, "file"), r.Stat.Insertions,
		r.Stat.Deletions)
	return nil
}
