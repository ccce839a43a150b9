package install

import (
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newVendor(a *app) *cobra.Command {
	var o skillpm.VendorOptions
	cmd := &cobra.Command{
		Use:     "vendor",
		Short:   "Keep a copy of the skills in the repository",
		GroupID: "use",
		Long: `Copy the skills that skillpm.lock names to vendor/skills, so that changes to
them are reviewed like other changes, and skillpm install needs neither a
network nor a registry: git clone, then skillpm install --frozen --offline.
Where there is a go.mod the directory is third_party/skills, because Go's own
tools take a directory vendor for theirs.

What the lock no longer has is removed. Only what skillpm wrote is replaced or
removed: a file that somebody changed is a conflict, and a directory that
skillpm did not write stays. Do not edit the copy: install takes a tree from
there only if its digest is the one in skillpm.lock, and fetches it otherwise.
Packs that are directories of the project are not copied.`,
		Example: `  skillpm vendor
  skillpm vendor --check         in CI: exits 5 if the copy is not what skillpm.lock says
  skillpm vendor --dry-run`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Check && (o.Force || o.DryRun) {
				return diag.Errorf(diag.Usage, "--check writes nothing: leave --force and --dry-run out")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			r, err := c.Vendor(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printVendor(r, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Check, "check", false, "write nothing; exit 5 if the copy is not what skillpm.lock says")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and do nothing")
	f.BoolVar(&o.Force, "force", false, "replace what somebody edited in the copy")
	f.BoolVar(&o.Offline, "offline", false, "use no network")
	return cmd
}

// printVendor prints the result for each skill, or the differences.
func (a *app) printVendor(r *skillpm.VendorReport, o skillpm.VendorOptions) error {
	for _, w := range r.Warnings {
		a.Warn("%s", w)
	}
	failed := o.Check && r.Changed
	switch {
	case a.JSON:
		if err := a.PrintJSON(r); err != nil {
			return err
		}
		if failed {
			return console.Reported{Exit: diag.Conflict}
		}
		return nil
	case !a.Quiet || o.Check:
		a.listVendor(r, o)
	}
	if failed {
		return diag.Errorf(diag.Conflict, "%s is not what skillpm.lock says", r.Dir).
			WithHint("run %s and commit what it changes", r.Command())
	}
	return nil
}

func (a *app) listVendor(r *skillpm.VendorReport, o skillpm.VendorOptions) {
	p := a.Palette(a.Stdout)
	signs := map[skillpm.VendorState]string{
		skillpm.VendorMissing: p.Green("+"), skillpm.VendorOutdated: p.Yellow("~"), skillpm.VendorStale: p.Red("-"),
		skillpm.VendorEdited: p.Yellow("!"),
	}
	packs := map[string]bool{}
	for _, s := range r.Skills {
		packs[s.Pack] = packs[s.Pack] || s.Tree != ""
		sign, differs := signs[s.State]
		if !differs {
			continue
		}
		line := fmt.Sprintf("%s %s", sign, console.Printable(s.Path))
		switch {
		case s.What != "":
			line += p.Dim("  " + console.Printable(s.What))
		case o.Check:
			line += p.Dim("  is " + string(s.State))
		}
		fmt.Fprintln(a.Stdout, line)
	}
	if o.Check {
		for _, file := range r.Files {
			fmt.Fprintf(a.Stdout, "%s %s\n", p.Yellow("~"), console.Printable(file))
		}
	}
	if a.Quiet {
		return
	}
	for _, s := range r.Skipped {
		a.Note("%s is not copied: %s", s.Pack, s.Why)
	}
	for _, path := range r.Foreign {
		a.Note("%s was not written by skillpm vendor; it stays", path)
	}
	switch {
	case !r.Changed:
		fmt.Fprintf(a.Stdout, "%s %s has %s as skillpm.lock says\n", p.Green("✓"), r.Dir,
			textx.Count(len(r.Skills), "skill"))
	case o.DryRun:
		fmt.Fprintln(a.Stdout, "Nothing was written: this was a dry run.")
	case !o.Check:
		maps.DeleteFunc(packs, func(_ string, has bool) bool { return !has })
		fmt.Fprintf(a.Stdout, "%s has %s of %s: commit it. %s\n", r.Dir, textx.Count(countUnchanged(r), "skill"),
			textx.Count(len(packs), "pack"),
			p.Dim("skillpm vendor --check tells whether it is still right."))
	}
}

// countUnchanged counts the unchanged skills.
func countUnchanged(r *skillpm.VendorReport) int {
	n := 0
	for _, s := range r.Skills {
		if s.Tree != "" {
			n++
		}
	}
	return n
}
