package install

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newImport(a *app) *cobra.Command {
	var o skillpm.ImportOptions
	cmd := &cobra.Command{
		Use:     "import FILE",
		Short:   "Take over the skills that another tool manages",
		GroupID: "use",
		Long: `Read the file in which another tool says which skills it installed or offers, add
them to skillpm.yaml, and install them. FILE is one of

  skills-lock.json                   of npm's skills (and its .skill-lock.json)
  apm.yml, apm.lock.yaml             of microsoft/apm
  .claude-plugin/marketplace.json    of Claude Code and hosts like it

or a directory with one of them. FILE stays as it is, and so does what the other
tool installed: remove that with the other tool, so that no skill is there twice.

Every place is opened, because only the pack itself says what it is called. What
can't be a dependency is listed with the reason.`,
		Example: `  skillpm import skills-lock.json
  skillpm import apm.yml --dry-run
  skillpm import .claude-plugin/marketplace.json --keep-going`,
		Args: console.Need(1, 1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			o.File = args[0]
			r, err := c.Import(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printImport(r)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be imported, and write nothing")
	f.BoolVar(&o.KeepGoing, "keep-going", false, "leave out what can't be opened instead of stopping there")
	f.BoolVar(&o.Offline, "offline", false, "use no network")
	scopeFlag(cmd, &o.Scope)
	return cmd
}

func (a *app) printImport(r *skillpm.ImportReport) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	for _, s := range r.Skipped {
		version := ""
		if s.Line > 0 {
			version = fmt.Sprintf(":%d", s.Line)
		}
		a.Warn("%s%s: %s was left out: %s", r.File, version, s.What, s.Why)
	}
	if a.Quiet {
		return nil
	}
	p := a.Palette(a.Stdout)
	for _, i := range r.Imported {
		line := fmt.Sprintf("%s %s  %s", p.Green("+"), p.Bold(i.Pack), i.Requires)
		if i.Existed {
			line = fmt.Sprintf("%s %s  %s %s", p.Dim("="), i.Pack, i.Requires, p.Dim("(skillpm.yaml has it already)"))
		}
		if len(i.Names) > 0 {
			line += p.Dim("  for " + strings.Join(i.Names, ", "))
		}
		fmt.Fprintln(a.Stdout, line)
	}
	if r.Install == nil {
		a.Note("%s: nothing to import", r.File)
		return nil
	}
	fmt.Fprintln(a.Stdout)
	return a.printInstall(r.Install, "install")
}
