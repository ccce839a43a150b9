package install

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newVendor(a *app) *cobra.Command {
	var o skillpm.VendorOptions
	cmd := &cobra.Command{
		Use:   "vendor",
		Short: "Copy skills into the repository",
		Long: `The command copies the skills in skillpm.lock to vendor/skills. You can then review changes
of skills like changes of your code. In a fresh clone, "skillpm install --frozen --offline"
works. In repositories with a go.mod, the directory is third_party/skills, because Go uses
the directory vendor for Go modules.

The command removes skills that skillpm.lock no longer contains. The command never replaces
or removes files that skillpm did not create. If you edited a vendored file, the command
fails, unless you use --force. The command does not copy packs that are directories of the
project. "skillpm install" uses a vendored skill only if the digest of the skill matches
skillpm.lock; otherwise, "skillpm install" fetches the skill.`,
		Example: `  skillpm vendor
  skillpm vendor --check  # in CI: exit 3 if vendor/skills is out of date
  skillpm vendor --dry-run`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Check && (o.Force || o.DryRun) {
				return diag.Errorf(diag.Usage, "--check cannot be used with --force or --dry-run")
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
	f.BoolVar(&o.Check, "check", false, "exit 3 if the vendored skills differ from skillpm.lock")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would change, without changing it")
	f.BoolVar(&o.Force, "force", false, "replace edited files in the vendor directory")
	f.BoolVar(&o.Offline, "offline", false, "do not use the network")
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
			return console.Reported{Exit: diag.Invalid}
		}
		return nil
	case !a.Quiet || o.Check:
		a.listVendor(r, o)
	}
	if failed {
		return diag.Errorf(diag.Invalid, "%s differs from skillpm.lock", r.Dir).
			WithHint("run \"%s\" and commit the changes", r.Command())
	}
	return nil
}

func (a *app) listVendor(r *skillpm.VendorReport, o skillpm.VendorOptions) {
	p := a.Palette(a.Stdout)
	signs := map[skillpm.VendorState]string{
		skillpm.VendorMissing: p.Green("+"), skillpm.VendorOutdated: p.Yellow("~"), skillpm.VendorStale: p.Red("-"),
		skillpm.VendorEdited: p.Yellow("!"),
	}
	packs, brief := map[string]bool{}, a.Verbose == 0 && changedSkills(r) > maxListed
	for i, s := range r.Skills {
		packs[s.Pack] = packs[s.Pack] || s.Tree != ""
		sign, differs := signs[s.State]
		if !differs {
			continue
		}
		if brief && s.State != skillpm.VendorEdited {
			if n := sameVendored(r, i); n > 0 {
				fmt.Fprintf(a.Stdout, "%s %s  %s\n", sign, console.Printable(path.Dir(filepath.ToSlash(s.Path))),
					p.Dim(textx.Count(n, "skill")))
			}
			continue
		}
		line := fmt.Sprintf("%s %s", sign, console.Printable(s.Path))
		switch {
		case s.What != "":
			line += p.Dim("  " + console.Printable(s.What))
		case o.Check && s.State == skillpm.VendorStale:
			line += p.Dim("  is not in skillpm.lock")
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
		a.Note("Skipped %s: %s.", s.Pack, s.Why)
	}
	for _, path := range r.Foreign {
		a.Note("Kept %s, which skillpm did not create.", path)
	}
	switch {
	case !r.Changed:
		fmt.Fprintf(a.Stdout, "%s %s is up to date: %s\n", p.Green("✓"), r.Dir,
			textx.Count(len(r.Skills), "skill"))
	case o.DryRun:
		fmt.Fprintln(a.Stdout, "Dry run: nothing was written.")
	case !o.Check:
		maps.DeleteFunc(packs, func(_ string, has bool) bool { return !has })
		fmt.Fprintf(a.Stdout, "Copied %s of %s to %s. Commit the directory.\n%s\n",
			textx.Count(countUnchanged(r), "skill"), textx.Count(len(packs), "pack"), r.Dir,
			p.Dim("Check the copy in CI with: skillpm vendor --check"))
	}
}

// maxListed is how many skills are listed without --verbose. If there are more, they are counted.
const maxListed = 20

// changedSkills counts the skills that were or would be changed.
func changedSkills(r *skillpm.VendorReport) int {
	n := 0
	for _, s := range r.Skills {
		if s.State == skillpm.VendorMissing || s.State == skillpm.VendorOutdated || s.State == skillpm.VendorStale {
			n++
		}
	}
	return n
}

// sameVendored counts the skills of a pack with one state, at the first of them. It returns 0 at the others.
func sameVendored(r *skillpm.VendorReport, i int) int {
	n := 0
	for j, s := range r.Skills {
		if s.Pack != r.Skills[i].Pack || s.State != r.Skills[i].State {
			continue
		}
		if n++; j < i {
			return 0
		}
	}
	return n
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
