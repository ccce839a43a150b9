package validate

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// validateFlags are the flags of validate that are not options of package publish.
type validateFlags struct {
	formats        []string
	outputs        []string
	showSuppressed bool
	fix, diff      bool
	stdin          bool
	watch          bool
	baseline       baselineFlags
}

func newValidate(a *app) *cobra.Command {
	var o publish.ValidateOptions
	var flags validateFlags
	cmd := &cobra.Command{
		Use:     "validate [PATH...]",
		Short:   "Check skills: frontmatter, references, scripts",
		GroupID: "author",
		Long: `Check every skill at and below each PATH (a SKILL.md, a skill, a pack, a tree;
this directory by default). The frontmatter is held against the JSON Schema of a
profile; links must resolve inside the skill, scripts must be able to run, and
files, hooks and commands that the frontmatter names must exist. Every file is
searched for what is hostile or risky. Skills are compared with each other, and
skillpm.yaml, skillpm.lock, index entries, policies and baselines are checked.

Every finding has a file, line and column, the id of its rule, and how to mend
it; skillpm explain ID says more. The exit code is 3 when there are errors;
warnings and advice do not fail. With --diff it is 3 when there are changes.

A report goes to a file with --output, in the format of its name (.txt, .json,
.sarif, .xml for JUnit) or of what stands before it, as in json=FILE. One more
format can go to standard output.`,
		Example: `  skillpm validate                            the skills below this directory
  skillpm validate ./skills/deploy            one skill
  skillpm validate --profile claude-code      as one host reads them
  skillpm validate --profile all              as every known host reads them
  skillpm validate --policy                   as the policies in force have them
  skillpm validate --fix                      mend what can be mended safely
  skillpm validate --format github            annotations in GitHub Actions
  skillpm validate --output out.sarif         findings here, and in a file
  skillpm validate --format sarif --output out.sarif`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Paths = args
			return a.validate(cmd, o, flags)
		},
	}
	a.addCheckFlags(cmd, &o)
	f := cmd.Flags()
	f.StringSliceVar(&flags.formats, "format", nil, "print as `FORMAT`: "+textx.And(
		render.FormatNames())+" (default text)")
	f.StringArrayVarP(&flags.outputs, "output", "o", nil, "write a report to `[FORMAT=]FILE`; several are possible")
	f.BoolVar(&flags.showSuppressed, "show-suppressed", false, "in text and SARIF, report what was suppressed, too")
	f.BoolVar(&flags.fix, "fix", false, "mend what can be mended safely, and report the rest")
	f.BoolVar(&flags.diff, "diff", false, "print what --fix would change, as a patch, and change nothing")
	f.BoolVar(&flags.stdin, "stdin", false, "check what is on standard input in the place of --stdin-filename")
	f.BoolVar(&flags.watch, "watch", false, "check again whenever a file changes")
	flags.baseline.add(cmd)
	a.CompleteFlag(cmd, "format", func(_ *cobra.Command, _ []string, prefix string) ([]string,
		cobra.ShellCompDirective,
	) {
		return console.Matching(render.FormatNames(), prefix), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// addCheckFlags adds the flags that select what is checked, and how.
func (a *app) addCheckFlags(cmd *cobra.Command, o *publish.ValidateOptions) {
	f := cmd.Flags()
	f.StringSliceVar(&o.Profiles, "profile", nil, "check for these `HOSTS`, or all: "+textx.And(profile.IDs())+
		" (default those of skillpm.yaml, else "+profile.Default+")")
	f.BoolVar(&o.Strict, "strict", false, "take warnings for errors, but for facts about what a skill can do")
	f.StringSliceVar(&o.Enable, "enable", nil,
		"ask for these `RULES`: ids, families as STY, or the start of ids and a star")
	f.StringSliceVar(&o.Disable, "disable", nil, "switch these `RULES` off")
	f.BoolVar(&o.NoConfig, "no-config", false, "leave out what skillpm.yaml says under validate:")
	f.StringVar(&o.Baseline, "baseline", "", "leave out what this `FILE` accepts (default that of skillpm.yaml)")
	f.BoolVar(&o.NoBaseline, "no-baseline", false, "use no baseline")
	f.BoolVar(&o.Changed, "changed", false, "report on skills with files that differ from the last commit only")
	f.StringVar(&o.Since, "since", "", "report on skills that changed since `REF` only: a branch, tag or commit")
	f.BoolVar(&o.Policy, "policy", false, "hold skills against the policies in force, too")
	f.StringVar(&o.PolicyFile, "policy-file", "", "hold skills against the policy in `FILE`, whatever is in force")
	f.StringVar(&o.StdinName, "stdin-filename", "", "the `FILE` that --stdin stands for; it need not exist")
	f.IntVar(&o.Parallel, "parallel", 0, "check `N` skills at once; 0 for one a processor")
	a.CompleteFlag(cmd, "profile", func(cmd *cobra.Command, args []string, prefix string) ([]string,
		cobra.ShellCompDirective,
	) {
		ids, _ := a.CompleteProfiles(cmd, args, prefix)
		return append(ids, console.Matching([]string{"all"}, prefix)...), cobra.ShellCompDirectiveNoFileComp
	})
	a.CompleteFlag(cmd, "enable", completeRules)
	a.CompleteFlag(cmd, "disable", completeRules)
}

// collectAt is the GOGC value during a check. Most memory stays in use until the end of a check, so collecting more
// often costs time and saves little.
const collectAt = 150

// validate checks and reports. Error findings only set the exit code.
func (a *app) validate(cmd *cobra.Command, o publish.ValidateOptions, flags validateFlags) error {
	o.Changed = o.Changed || o.Since != ""
	o.Lenient = cmd.Flags().Changed("strict") && !o.Strict
	if err := checkFlags(o, flags); err != nil {
		return err
	}
	if a.JSON && !slices.Contains(flags.formats, "json") {
		flags.formats = append(flags.formats, "json")
	}
	formats, err := render.FindFormats(flags.formats)
	if err != nil {
		return err
	}
	if flags.diff && !a.JSON {
		formats = append(formats, render.Patch())
	}
	destinations, err := render.Destinations(formats, flags.outputs)
	if err != nil {
		return err
	}
	if err := render.CheckOutputs(a.App, destinations); err != nil {
		return err
	}
	c, err := a.Author()
	if err != nil {
		return err
	}
	if flags.baseline.write {
		return a.writeBaseline(cmd.Context(), c, o, flags.baseline)
	}
	if flags.stdin {
		if o.Stdin, err = io.ReadAll(a.Stdin); err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
	}
	if a.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	o.Edits = slices.ContainsFunc(destinations, func(d render.Destination) bool { return d.Edits })
	out := render.Outcome{
		Version: console.BuildVersion(a.Version), Dir: c.Dir, Workspace: a.Getenv("GITHUB_WORKSPACE"),
		ShowSuppressed: flags.showSuppressed, Stdin: o.StdinName,
	}
	if flags.watch {
		return a.watch(cmd.Context(), c, o, out, destinations)
	}
	if !flags.fix && !flags.diff {
		if out.Report, err = c.Validate(cmd.Context(), o); err != nil {
			return err
		}
		return a.finish(out, destinations)
	}
	fixed, fixErr := c.Fix(cmd.Context(), o, flags.diff)
	if fixed == nil {
		return fixErr
	}
	out.Report, out.Fixed, out.Dry = fixed.Report, fixed.Files, flags.diff
	if err := a.finish(out, destinations); fixErr == nil {
		return err
	}
	return fixErr
}

// checkFlags rejects conflicting flags.
func checkFlags(o publish.ValidateOptions, flags validateFlags) error {
	switch {
	case o.Parallel < 0:
		return diag.Errorf(diag.Usage, "--parallel %d: give a number of skills, or 0 for one a processor", o.Parallel)
	case flags.stdin && o.StdinName == "":
		return diag.Errorf(diag.Usage, "--stdin needs --stdin-filename: rules depend on where a file is").
			WithHint("skillpm validate --stdin --stdin-filename skills/deploy/SKILL.md")
	case o.StdinName != "" && !flags.stdin:
		return diag.Errorf(diag.Usage, "--stdin-filename has a meaning only with --stdin")
	case flags.stdin && (flags.fix || flags.diff):
		return diag.Errorf(diag.Usage, "--fix and --diff work on files, and --stdin is none").
			WithHint("--format json has the edits that mend a finding")
	case flags.fix && flags.diff:
		return diag.Errorf(diag.Usage, "--fix and --diff exclude each other: --diff changes nothing")
	case flags.watch && (flags.fix || flags.diff || flags.stdin || flags.baseline.write):
		return diag.Errorf(diag.Usage, "--watch goes together with neither --fix, --diff, --stdin nor --write-baseline")
	case o.Baseline != "" && o.NoBaseline:
		return diag.Errorf(diag.Usage, "--baseline and --no-baseline exclude each other")
	}
	return flags.baseline.check(o, flags)
}

// finish prints the report, and converts error findings and changes of --diff to the exit code.
func (a *app) finish(o render.Outcome, destinations []render.Destination) error {
	if err := render.WriteReport(a.App, o, destinations); err != nil {
		return err
	}
	if o.Dry { // the exit code of --diff reports changes
		if len(o.Fixed) > 0 {
			return console.Reported{Exit: diag.Invalid}
		}
		return nil
	}
	if !o.OK() {
		return console.Reported{Exit: diag.Invalid}
	}
	return nil
}
