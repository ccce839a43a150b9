package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newConfigSync(a *app) *cobra.Command {
	var o skillpm.UserSyncOptions
	accept := ""
	cmd := &cobra.Command{
		Use:   "sync [git+URL[#BRANCH]]",
		Short: "Keep your skills the same on several machines",
		Long: `The command merges ~/.skillpm/skillpm.yaml and skillpm.lock with the same files in a git
repository, entry by entry, and installs exactly what the merged lockfile has. Policies apply.
With --push, it also commits the merged files to the repository. Without a URL, it uses the
repository of the last sync.

The command first shows what the repository changes on this machine. On a terminal, it asks
for your consent; otherwise, the changes need --accept. With --accept=COMMIT, it accepts only the
changes of that commit; the hint of a refused sync names the commit that was shown.

An entry that both sides changed differently is a conflict (exit code 5), and neither side
changes. --prefer selects the side whose entries are kept.

The command reads only these two files of the repository. It rejects links, and pushes
neither other files nor packs that exist only on this machine.`,
		Example: `  skillpm config sync git+https://git.example/ada/skills.git --push
  skillpm config sync
  skillpm config sync --accept --push`,
		Args:              console.Need(0, 1, "at most one git+URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Repository = args[0]
			}
			o.Accept = func(r skillpm.UserSyncReport) bool { return a.acceptsSync(r, accept) }
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.SyncUser(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printSync(r, o.Push)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Push, "push", false, "also push the changes of this machine")
	f.StringVar(&accept, "accept", "",
		"accept the changes of the repository without asking, or only those of `COMMIT`")
	f.Lookup("accept").NoOptDefVal = anyCommit
	f.StringVar(&o.Prefer, "prefer", "",
		"if both sides changed an entry, take it from `SIDE`: local or remote")
	f.BoolVar(&o.DryRun, "dry-run", false, "show the changes without making them")
	return cmd
}

// anyCommit is the value of --accept without a commit.
const anyCommit = "any"

// acceptsSync shows what a repository changes, and asks the user unless the changes of its commit are accepted already.
func (a *app) acceptsSync(r skillpm.UserSyncReport, commit string) bool {
	if !a.JSON {
		a.EndProgress()
		p := a.Palette(a.Stderr)
		out := a.Messages()
		fmt.Fprintln(out, p.Bold("The repository changes on this machine:"))
		for _, line := range syncLines(p, r.Pulled) {
			fmt.Fprintln(out, line)
		}
	}
	switch accepted := commit == anyCommit || commit != "" && commit == r.Commit; {
	case accepted || !a.CanAsk():
		return accepted
	case commit != "":
		a.Warn("%s now has commit %s, not %s", r.Branch, r.Commit, commit)
	}
	const accept = "accept"
	answer, err := a.PickOne(console.PickList{
		Title: "Accept these changes?",
		Note:  "Packs are instructions for your agents. Accept only changes that you made, or that you expect.",
		Choices: []console.Choice{
			{Value: "stop", Text: "make no changes"},
			{Value: accept, Text: "install the packs"},
		},
	})
	return err == nil && answer == accept
}

// syncLines describes a difference, one line for each entry and pack.
func syncLines(p console.Palette, d skillpm.SyncDifference) (lines []string) {
	sign := func(before, after string) string {
		switch {
		case before == "":
			return p.Green("+")
		case after == "":
			return p.Red("-")
		}
		return p.Yellow("~")
	}
	for _, e := range d.Entries {
		text := "skillpm.yaml: " + e.Entry
		switch {
		case e.Before == "":
			text += ": " + e.After
		case e.After != "":
			text += ": " + e.Before + " → " + e.After
		}
		lines = append(lines, "  "+sign(e.Before, e.After)+" "+wholeLine(text))
	}
	for _, one := range d.Packs {
		text := one.Pack + " " + one.After
		switch {
		case one.After == "":
			text += one.Before
		case one.Before != "" && one.Before != one.After:
			text += " (was " + one.Before + ")"
		}
		parts := []string{text, "from " + one.Source}
		for _, note := range []struct {
			set  bool
			text string
		}{
			{one.SourceChanged, "another source"},
			{one.SignerChanged, "another signer"},
			{one.ContentChanged, "other content"},
		} {
			if note.set {
				parts = append(parts, note.text)
			}
		}
		lines = append(lines, "  "+sign(one.Before, one.After)+" "+wholeLine(strings.Join(parts, "  ")))
	}
	return lines
}

// wholeLine converts a text to one printable line. It is not shortened, because the user consents to all of it.
func wholeLine(text string) string { return strings.ReplaceAll(textdiff.Visible(text), "\n", " ") }

// printSync prints the result of a sync.
func (a *app) printSync(r *skillpm.UserSyncReport, push bool) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	p := a.Palette(a.Stdout)
	if r.DryRun {
		for _, line := range syncLines(p, r.Pulled) {
			fmt.Fprintln(a.Stdout, line)
		}
	}
	if r.Install != nil {
		a.Warnings(r.Install.Warnings)
	}
	n := len(r.Pending.Entries) + len(r.Pending.Packs)
	switch {
	case r.Pushed:
		a.Note("Pushed %s to %s (%s).", textx.Count(n, "change"), r.Branch, r.Repository)
	case n > 0 && !push:
		a.Note("This machine has %s for the repository. Push with: skillpm config sync --push", textx.Count(n, "change"))
	case n > 0:
		a.Note("Dry run: %s would be pushed.", textx.Count(n, "change"))
	}
	repository := r.Repository
	switch changed := countChanged(r); {
	case r.DryRun && !r.Pulled.Empty():
		fmt.Fprintln(a.Stdout, "Dry run: nothing was written.")
	case changed > 0 || !r.Pulled.Empty():
		fmt.Fprintf(a.Stdout, "%s Synced with %s: %s changed\n", p.Green("✓"), repository,
			textx.Count(changed, "installed pack"))
	case r.Pushed:
		fmt.Fprintf(a.Stdout, "%s Synced with %s\n", p.Green("✓"), repository)
	case n > 0:
		fmt.Fprintf(a.Stdout, "%s No changes from %s\n", p.Green("✓"), repository)
	default:
		fmt.Fprintf(a.Stdout, "%s Already up to date with %s\n", p.Green("✓"), repository)
	}
	return nil
}

// countChanged counts the packs that a sync installed, changed, or removed.
func countChanged(r *skillpm.UserSyncReport) (n int) {
	if r.Install == nil || r.DryRun {
		return 0
	}
	for _, p := range r.Install.Packs {
		if !slices.Contains([]string{skillpm.ActionUnchanged, ""}, p.Action) {
			n++
		}
	}
	for _, p := range r.Pulled.Packs {
		if p.After == "" { // the installation starts from the merged lockfile, which does not have the pack
			n++
		}
	}
	return n
}
