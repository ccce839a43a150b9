package govern

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

func newDeploy(a *app) *cobra.Command {
	var o publish.DeployOptions
	var flags *console.RuntimeFlags
	cmd := &cobra.Command{
		Use:   "deploy SKILL|DIR",
		Short: "Copy a skill into a layer",
		Long: `The layer decides who gets the skill. Agents see the skill the next time that they list
skills.

  enterprise   all users of this machine; needs administrator rights
  personal     you, in all projects
  project      everyone who works in this project

SKILL is the name of a skill, also of one that is only for another environment, agent, or
tenant. DIR is the directory of a skill. skillpm rejects
skills with error findings, links, or special files, and copies either all files or none.
Only --force replaces a different skill with the same name, and keeps a backup. The output
shows which skill the name now refers to.`,
		Example: `  skillpm deploy ./deploy --layer project
  sudo skillpm deploy data-handling --layer enterprise
  skillpm deploy ./review --layer personal --dry-run`,
		Args: console.Need(1, 1, "a SKILL or DIR"),
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
			o.Catalog = h.CatalogOptions()
			if o.Dir, err = a.skillDir(cmd.Context(), h, args[0], o.Scope); err != nil {
				return err
			}
			r, err := c.Deploy(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printDeployed(c, r)
		},
	}
	flags = a.RuntimeFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.Scope, "layer", "", "copy to `LAYER`: enterprise, personal, or project (required)")
	f.StringVar(&o.Scope, "scope", "", "same as --layer `LAYER`")
	_ = f.MarkHidden("scope") // cannot fail: the flag exists
	f.BoolVar(&o.Force, "force", false, "replace a different skill with the same name and keep a backup")
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would change, without changing it")
	for _, name := range []string{"session", "no-skills"} {
		_ = f.MarkHidden(name) // cannot fail: the flag exists
	}
	a.CompleteFlag(cmd, "layer", cobra.FixedCompletions(publish.DeployScopes(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// skillDir returns the directory of a skill: the argument, or that of the skill with this name. A skill that is only for
// another environment, agent, or tenant can be deployed, and a copy in the target layer does not hide its source.
func (a *app) skillDir(ctx context.Context, h *runtime.Host, arg, layer string) (string, error) {
	if _, err := os.Stat(a.Abs(arg)); err == nil {
		return arg, nil
	}
	c, err := h.Catalog(ctx)
	if err != nil {
		return "", err
	}
	claims := c.Which(arg)
	for _, e := range claims.All() {
		if !e.Denied() && e.State != catalog.Skipped && (e.Pack != "" || e.Scope != targetScope(layer)) {
			return e.Dir, nil
		}
	}
	k, err := c.Lookup(arg)
	if err != nil && strings.ContainsAny(arg, `/\`) && !strings.Contains(arg, "@") {
		return arg, nil // a path that does not exist
	} else if err != nil {
		return "", err
	}
	return k.Dir, nil
}

// targetScope returns the scope of the skills in a layer.
func targetScope(layer string) string {
	switch layer {
	case publish.DeployEnterprise:
		return catalog.ScopeMachine
	case publish.DeployPersonal:
		return catalog.ScopeUser
	}
	return catalog.ScopeProject
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
		if err := render.Text(a.App, a.Messages(), render.Outcome{Report: r.Check}); err != nil {
			return err
		}
		return diag.Errorf(diag.Invalid, "cannot deploy skill %s: the skill has error findings under profile %s",
			r.Skill, r.Profile).
			WithHint("fix the errors above, and check the skill with: skillpm validate --profile %s %s",
				r.Profile, c.DisplayPath(r.From))
	}
	would := ""
	if r.DryRun {
		would = " (dry run)"
	}
	if r.Action == publish.DeployUnchanged {
		fmt.Fprintf(a.Stdout, "%s is already up to date%s\n", r.Dir, would)
	} else {
		fmt.Fprintf(a.Stdout, "%s %s%s\n", r.Action, r.Dir, would)
	}
	if r.Backup != "" && !r.DryRun {
		a.Note("The backup of the replaced skill is in %s.", r.Backup)
	}
	switch {
	case r.DryRun:
	case r.InForce:
		a.Note("The name %s now refers to this skill under profile %s.", r.Skill, r.Profile)
	case r.Winner != "":
		a.Warn("the name %s still refers to the skill in %s", r.Skill, r.Winner)
	default:
		a.Warn("skill %s is not available; show the reason with: skillpm which %s", r.Skill, r.Skill)
	}
	for _, dir := range r.Shadowed {
		a.Note("The deployed skill shadows the skill in %s.", dir)
	}
	return nil
}
