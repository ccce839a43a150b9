package govern

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
)

func newDeploy(a *app) *cobra.Command {
	var o publish.DeployOptions
	var flags *console.RuntimeFlags
	cmd := &cobra.Command{
		Use:     "deploy DIR",
		Short:   "Copy a skill into a layer",
		GroupID: "serve",
		Long: `Check the skill in DIR and copy it into a layer of the profile, so that it is in
force from the next time that an agent looks:

  enterprise   for everybody on this machine; it needs the administrator's rights
  personal     for you, in all projects
  project      for who works in this project

The skill takes its place whole or not at all. Links and special files are
refused, executable bits stay. Errors of the check stop it. A skill of the name
that is there and differs is replaced with --force only, and kept as a backup. At
the end it says what the name means now, and which skills it shadows.`,
		Example: `  skillpm deploy ./deploy --scope project
  sudo skillpm deploy data-handling --scope enterprise
  skillpm deploy ./review --scope personal --profile claude-code --dry-run`,
		Args: console.Need(1, 1, "the DIR of a skill"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Author()
			if err != nil {
				return err
			}
			h, err := a.Host(cmd.Context(), flags)
			if err != nil {
				return err
			}
			o.Dir, o.Catalog = args[0], h.CatalogOptions()
			r, err := c.Deploy(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printDeployed(c, r)
		},
	}
	flags = a.RuntimeFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.Scope, "scope", "", "`LAYER`: enterprise, personal or project (required)")
	f.BoolVar(&o.Force, "force", false, "replace a skill that is there and differs; it is kept as a backup")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and change nothing")
	for _, name := range []string{"session", "no-skills"} {
		_ = f.MarkHidden(name) // cannot fail: the flag exists
	}
	a.CompleteFlag(cmd, "scope", cobra.FixedCompletions(publish.DeployScopes(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) printDeployed(c *publish.Client, r *publish.DeployReport) error {
	if a.JSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
		if !r.Valid {
			return console.Reported{Exit: diag.Invalid}
		}
		return nil
	}
	if !r.Valid {
		if err := render.Text(a.App, a.Stderr, render.Outcome{Report: r.Check}); err != nil {
			return err
		}
		return diag.Errorf(diag.Invalid, "skill %s is not valid under profile %s and was not deployed",
			r.Skill, r.Profile).
			WithHint("mend the errors above; skillpm validate --profile %s %s shows them again",
				r.Profile, c.DisplayPath(r.From))
	}
	would := ""
	if r.DryRun {
		would = " (dry run: nothing was changed)"
	}
	if r.Action == publish.DeployUnchanged {
		fmt.Fprintf(a.Stdout, "%s is there and the same%s\n", console.Printable(r.Dir), would)
	} else {
		fmt.Fprintf(a.Stdout, "%s %s%s\n", r.Action, console.Printable(r.Dir), would)
	}
	if r.Backup != "" && !r.DryRun {
		a.Note("what was there is kept in %s", r.Backup)
	}
	switch {
	case r.DryRun:
	case r.InForce:
		a.Note("%s means this skill now, under profile %s", r.Skill, r.Profile)
	case r.Winner != "":
		a.Warn("%s still means the skill in %s", r.Skill, r.Winner)
	default:
		a.Warn("%s is not in force: skillpm which %s says why", r.Skill, r.Skill)
	}
	for _, dir := range r.Shadowed {
		a.Note("it shadows %s", dir)
	}
	return nil
}
