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
		Use:     "doctor",
		Short:   "Find out what is wrong, and how to mend it",
		GroupID: "use",
		Long: `Look at the project, at what is installed for the user, and at this machine:
interrupted installs, drift between skillpm.yaml, skillpm.lock and the disk,
edited and shadowed skills, links that lead nowhere, agents' directories, what
git ignores, the store and the room for it, credentials, the clock, settings.
Nothing is changed, and no network is used unless --online is given, which asks
the registries whether they answer. Secrets are never printed.

Every finding says what it means and what mends it. The exit code is 5 if there
are errors or warnings, and 0 if there is nothing but advice.`,
		Example: "  skillpm doctor\n  skillpm doctor --online\n  skillpm doctor --json",
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
			return a.printDoctor(r)
		},
	}
	cmd.Flags().BoolVar(&o.Online, "online", false, "ask the registries whether they answer")
	return cmd
}

// printDoctor prints the findings, worst first. Problems are a conflict error.
func (a *app) printDoctor(r *skillpm.DoctorReport) error {
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
		if d.Severity != diag.SeverityAdvice || !a.Quiet {
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
			fmt.Fprintf(a.Stdout, "%s %s, nothing is wrong\n", p.Green("✓"), textx.Count(r.Checks, "check"))
		}
		return nil
	}
	return diag.Errorf(diag.Conflict, "%s and %s in %s", textx.Count(counts[diag.SeverityError], "error"),
		textx.Count(counts[diag.SeverityWarning], "warning"), textx.Count(r.Checks, "check")).
		WithHint("each says what mends it")
}

func (a *app) printDiagnosis(p console.Palette, d skillpm.Diagnosis) {
	colour := map[diag.Severity]func(string) string{
		diag.SeverityError: p.Red, diag.SeverityWarning: p.Yellow,
		diag.SeverityAdvice: p.Cyan,
	}[d.Severity]
	line := d.Message
	if d.Path != "" && !strings.HasPrefix(d.Message, d.Path) {
		line = d.Path + ": " + line
	}
	where := d.Check
	if d.Scope == "user" {
		where += ", user"
	}
	fmt.Fprintf(a.Stdout, "%s %s %s\n", colour(d.Severity.String()), console.Printable(line), p.Dim("["+where+"]"))
	if d.Effect != "" {
		fmt.Fprintf(a.Stdout, "    %s\n", console.Printable(d.Effect))
	}
	if d.Fix != "" {
		fmt.Fprintf(a.Stdout, "    fix: %s\n", p.Bold(console.Printable(d.Fix)))
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
