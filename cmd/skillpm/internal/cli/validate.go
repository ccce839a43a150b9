package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/profile"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// validateFlags are the flags of validate that do not go to the check itself.
type validateFlags struct {
	formats        []string
	outputs        []string
	showSuppressed bool
}

func newValidate(a *app) *cobra.Command {
	var o skillpm.ValidateOptions
	var flags validateFlags
	cmd := &cobra.Command{
		Use:     "validate [PATH...]",
		Short:   "Check skills: frontmatter, references, scripts",
		GroupID: "author",
		Long: `Check every skill at and below each PATH (a SKILL.md, a skill, a pack, a tree;
this directory by default). The frontmatter is held against the JSON Schema of a
profile; links must resolve inside the skill, scripts must be able to run, and
files, hooks and commands that the frontmatter names must exist.

Every finding has a file, line and column, the id of its rule, and how to mend
it; skillpm explain ID says more. The exit code is 3 when there are errors;
warnings and advice do not fail.

A report goes to a file with --output, in the format of its name (.txt, .json,
.sarif, .xml for JUnit) or of what stands before it, as in json=FILE. One more
format can go to standard output.`,
		Example: `  skillpm validate                            the skills below this directory
  skillpm validate ./skills/deploy            one skill
  skillpm validate --profile claude-code      as one host reads them
  skillpm validate --profile all              as every known host reads them
  skillpm validate --format github            annotations in GitHub Actions
  skillpm validate --output out.sarif         findings here, and in a file
  skillpm validate --format sarif --output out.sarif`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Paths = args
			return a.validate(cmd, o, flags)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Profiles, "profile", []string{profile.Default}, "check for these `HOSTS`, or all: "+list(profile.IDs()))
	f.StringSliceVar(&flags.formats, "format", nil, "print as `FORMAT`: "+list(formatNames())+" (default text)")
	f.StringArrayVarP(&flags.outputs, "output", "o", nil, "write a report to `[FORMAT=]FILE`; several are possible")
	f.BoolVar(&flags.showSuppressed, "show-suppressed", false, "in text and SARIF, report what was suppressed, too")
	f.IntVar(&o.Parallel, "parallel", 0, "check `N` skills at once; 0 for one a processor")
	a.completeFlag(cmd, "profile", func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return matching(append(profile.IDs(), "all"), prefix), cobra.ShellCompDirectiveNoFileComp
	})
	a.completeFlag(cmd, "format", func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return matching(formatNames(), prefix), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// validate checks and reports; errors in skills are the exit code only.
func (a *app) validate(cmd *cobra.Command, o skillpm.ValidateOptions, flags validateFlags) error {
	if o.Parallel < 0 {
		return diag.Errorf(diag.Usage, "--parallel %d: give a number of skills, or 0 for one a processor", o.Parallel)
	}
	if a.json && !slices.Contains(flags.formats, "json") {
		flags.formats = append(flags.formats, "json")
	}
	to, err := destinations(flags.formats, flags.outputs)
	if err != nil {
		return err
	}
	if err := a.checkOutputs(to); err != nil {
		return err
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	o.Edits = slices.ContainsFunc(to, func(d destination) bool { return d.edits })
	report, err := c.Validate(cmd.Context(), o)
	if err != nil {
		return err
	}
	out := outcome{Report: report, version: buildVersion(a.Version), dir: c.Dir, showSuppressed: flags.showSuppressed}
	if err := a.render(out, to); err != nil {
		return err
	}
	if !report.OK() {
		return reported{diag.Invalid}
	}
	return nil
}
