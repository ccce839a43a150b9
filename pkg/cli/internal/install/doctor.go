package install

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

func newDoctor(a *app) *cobra.Command {
	var o skillpm.DoctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Diagnose problems and suggest fixes",
		Long: `The command checks the project, the user's packs, and this machine. It changes nothing.

  packs    interrupted installs, edited and shadowed skills, differences between
           skillpm.yaml, skillpm.lock, and the disk
  agents   broken links, missing directories, hooks, files that git ignores
  machine  store, disk space, credentials, clock, settings, number of skills

--online also contacts the registries. The command never prints credentials.

Each finding shows a fix. The exit code is 5 if there are errors or warnings.`,
		Example: `  skillpm doctor
  skillpm doctor --online
  skillpm doctor --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if diag.CodeOf(err) == diag.Internal {
				return a.printDoctor(skillpm.Homeless(err))
			}
			if err != nil {
				return err
			}
			o.Variables, o.Helper = a.variables(), console.Confiner()
			r, err := c.Doctor(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := a.examineLayer(r); err != nil {
				return err
			}
			a.examineUsage(cmd.Context(), r)
			return a.printDoctor(r)
		},
	}
	cmd.Flags().BoolVar(&o.Online, "online", false, "check that the registries respond")
	return cmd
}

// printDoctor prints the findings, worst first. Problems are a conflict error.
func (a *app) printDoctor(r *skillpm.DoctorReport) error {
	for i := range r.Findings {
		d := &r.Findings[i]
		d.Message, d.Effect, d.Fix = a.Secrets.Redact(d.Message), a.Secrets.Redact(d.Effect), a.Secrets.Redact(d.Fix)
	}
	if a.JSON {
		if err := a.PrintJSON(r); err != nil || !r.Trouble() {
			return err
		}
		return console.Reported{Exit: diag.Conflict}
	}
	p := a.Palette(a.Stdout)
	counts := map[diag.Severity]int{}
	for _, d := range r.Findings {
		counts[d.Severity]++
		if d.Severity != diag.SeverityNote || !a.Quiet {
			a.printDiagnosis(p, d)
		}
	}
	if !a.Quiet {
		for _, f := range r.Facts {
			fmt.Fprintf(a.Stdout, "%s %s\n", p.Dim(console.Printable(f.Name)+":"), console.Printable(f.Value))
		}
	}
	if !r.Trouble() {
		if !a.Quiet {
			fmt.Fprintf(a.Stdout, "%s %s, no problems\n", p.Green("✓"), textx.Count(r.Checks, "check"))
		}
		return nil
	}
	warnings, checks := textx.Count(counts[diag.SeverityWarning], "warning"), textx.Count(r.Checks, "check")
	if n := counts[diag.SeverityError]; n > 0 {
		return diag.Errorf(diag.Conflict, "%s, %s in %s", textx.Count(n, "error"), warnings, checks).
			WithHint("apply the fix of each finding")
	}
	if !a.Quiet {
		fmt.Fprintf(a.Stdout, "%s %s, 0 errors in %s\n", p.Yellow("!"), warnings, checks)
	}
	return console.Reported{Exit: diag.Conflict}
}

func (a *app) printDiagnosis(p console.Palette, d skillpm.Diagnosis) {
	line := d.Message
	if d.Path != "" && !strings.HasPrefix(d.Message, d.Path) {
		line = d.Path + ": " + line
	}
	where := d.Check
	if d.Scope == "user" {
		where += ", user"
	}
	severity := p.Severity(d.Severity, d.Severity.String())
	fmt.Fprintf(a.Stdout, "%s %s %s\n", severity, console.Printable(line), p.Dim("["+where+"]"))
	if d.Effect != "" {
		fmt.Fprintf(a.Stdout, "    %s\n", console.Printable(d.Effect))
	}
	if d.Fix != "" {
		fmt.Fprintf(a.Stdout, "    %s %s\n", p.Cyan("fix:"), console.Printable(d.Fix))
	}
}

// variables returns the names of environment variables, without their values.
func (a *app) variables() []string {
	var names []string
	for _, variable := range a.Variables() {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	return names
}
