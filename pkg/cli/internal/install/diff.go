package install

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newDiff(a *app) *cobra.Command {
	var o skillpm.DiffOptions
	var stat, names bool
	cmd := &cobra.Command{
		Use:     "diff [PACK[@RANGE]...]",
		Short:   "Show what an update changes in the skills' text",
		GroupID: "use",
		Long: `Show what skillpm update would change in the text of skills, since text is what
an agent will follow: of all packs that it would move, of those that are named,
or to the version or range given. New versions are fetched into the store;
nothing is installed, and skillpm.yaml and skillpm.lock stay as they are.

A summary comes first: changed allowed-tools and hooks, new scripts, files that
become executable, new addresses, skills that come or go, and what is required
anew. Its lines start with #. The rest is a unified difference that git apply
takes, with paths as the skills are installed.

A pack whose registry or place can't be reached is left out, with a warning, and
the exit code is 8.

With --edits it shows instead what was edited in installed skills, compared with
what was installed.`,
		Example: `  skillpm diff
  skillpm diff acme/deploy@^2 --stat
  skillpm diff --latest
  skillpm diff --edits > edits.patch`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if stat && names {
				return diag.Errorf(diag.Usage, "--stat and --name-only exclude each other")
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
	f.BoolVar(&o.Latest, "latest", false, "go beyond the ranges in skillpm.yaml")
	f.BoolVar(&o.Edits, "edits", false, "show what was edited in installed skills instead")
	f.BoolVar(&stat, "stat", false, "print the summary and how much changes in each file")
	f.BoolVar(&names, "name-only", false, "print the names of changed files only")
	f.StringVar(&o.Registry, "registry", "",
		"look names up in registry `R` only: an index, an OCI prefix or an OCI layout")
	f.BoolVar(&o.Offline, "offline", false, "use no network")
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
		text := "an update would change nothing"
		switch {
		case len(r.Unreached) > 0:
			text = "nothing to compare but what could not be reached"
		case o.Edits:
			text = "no installed skill was edited"
		}
		a.Note("%s", text)
		return nil
	}
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

// maxNotes limits the notes of one kind for a pack in the summary.
const maxNotes = 20

// printSummary prints the important changes in lines that patch tools ignore.
func (a *app) printSummary(r *skillpm.DiffReport, o skillpm.DiffOptions) {
	p := a.Palette(a.Stdout)
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
			if counts[n.Kind]++; counts[n.Kind] <= maxNotes {
				text := n.Text
				if n.Path != "" {
					text = n.Path + ": " + text
				}
				fmt.Fprintln(a.Stdout, p.Yellow("#   ! "+noteLine(text)))
			}
		}
		for kind, n := range counts {
			if n > maxNotes {
				fmt.Fprintln(a.Stdout, p.Yellow(fmt.Sprintf("#   ! … and %d more of kind %s", n-maxNotes, kind)))
			}
		}
	}
}

// noteLine converts a text to one printable line.
func noteLine(s string) string {
	return textx.Truncate(strings.ReplaceAll(textdiff.Visible(s), "\n", " "), 300)
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
