package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/profile"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

var validateFormats = []string{"text", "json", "github", "sarif"}

func newValidate(a *app) *cobra.Command {
	var o skillpm.ValidateOptions
	var format string
	cmd := &cobra.Command{
		Use:     "validate [PATH...]",
		Short:   "Check skills: frontmatter, references, scripts",
		GroupID: "author",
		Long: `Check every skill at and below each PATH (a SKILL.md, a skill, a pack, a tree;
this directory by default). The frontmatter is held against the JSON Schema of a
profile; links must resolve inside the skill, scripts must be able to run, and
files, hooks and commands that the frontmatter names must exist.

Every finding has a file, line and column, the id of its rule, and how to mend
it. The exit code is 3 when there are errors; warnings and advice do not fail.`,
		Example: `  skillpm validate                            the skills below this directory
  skillpm validate ./skills/deploy            one skill
  skillpm validate --profile claude-code      as one host reads them
  skillpm validate --profile all              as every known host reads them
  skillpm validate --format github            annotations in GitHub Actions
  skillpm validate --format sarif > out.sarif`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.json && cmd.Flags().Changed("format") && format != "json" {
				return diag.Errorf(diag.Usage, "--json and --format %s exclude each other", format)
			}
			if a.json {
				format = "json"
			}
			if o.Parallel < 0 {
				return diag.Errorf(diag.Usage, "--parallel %d: give a number of skills, or 0 for one a processor", o.Parallel)
			}
			if !slices.Contains(validateFormats, format) {
				return diag.Errorf(diag.Usage, "unknown format %q", format).
					WithHint("the formats are %s", strings.Join(validateFormats, ", "))
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			o.Paths = args
			report, err := c.Validate(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := a.renderReport(report, format); err != nil {
				return err
			}
			if !report.OK() {
				return reported{diag.Invalid}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Profiles, "profile", []string{profile.Default}, "check for these `HOSTS`, or all: "+strings.Join(profile.IDs(), ", "))
	f.StringVar(&format, "format", "text", "print as `FORMAT`: "+strings.Join(validateFormats, ", "))
	f.IntVar(&o.Parallel, "parallel", 0, "check `N` skills at once; 0 for one a processor")
	a.completeFlag(cmd, "profile", func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return matching(append(profile.IDs(), "all"), prefix), cobra.ShellCompDirectiveNoFileComp
	})
	a.completeFlag(cmd, "format", func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return matching(validateFormats, prefix), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// renderReport prints a report in a format.
func (a *app) renderReport(r lint.Report, format string) error {
	switch format {
	case "json":
		return renderJSON(a.Stdout, r)
	case "sarif":
		return renderSARIF(a.Stdout, r, buildVersion(a.Version))
	case "github":
		return renderGitHub(a.Stdout, r)
	}
	return a.renderText(a.Stdout, r)
}

// renderText prints findings by file; --quiet leaves out advice, and the summary where there is nothing else to say.
func (a *app) renderText(w io.Writer, r lint.Report) error {
	t := textReport{palette: a.palette(w), quiet: a.quiet}
	return t.render(w, r)
}
