package validate

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	capabilities   bool
	fix, diff      fixScope
	stdin          bool
	watch          bool
	baseline       baselineFlags
}

// fixScope is the value of --fix and --diff: "" without the flag.
type fixScope string

// The values of --fix and --diff.
const (
	fixSafe  fixScope = "safe"  // all safe fixes
	fixNames fixScope = "names" // also names of skills
)

// String implements [pflag.Value].
func (s *fixScope) String() string { return string(*s) }

// Type implements [pflag.Value].
func (s *fixScope) Type() string { return "string" }

// Set implements [pflag.Value].
func (s *fixScope) Set(value string) error {
	if is, err := strconv.ParseBool(value); err == nil { // of the environment variable
		*s = map[bool]fixScope{true: fixSafe}[is]
		return nil
	}
	if *s = fixScope(value); *s != fixSafe && *s != fixNames {
		return errors.New("use safe or names")
	}
	return nil
}

// addFixScope adds --fix or --diff, whose value is optional.
func addFixScope(f *pflag.FlagSet, s *fixScope, name, usage string) {
	f.Var(s, name, usage)
	f.Lookup(name).NoOptDefVal = string(fixSafe)
}

func newValidate(a *app) *cobra.Command {
	var o publish.ValidateOptions
	var flags validateFlags
	cmd := &cobra.Command{
		Use:     "validate [PATH...]",
		Aliases: []string{"lint", "check"},
		Short:   "Validate skills and find risks",
		Long: `PATH is a SKILL.md, or a directory that contains skills (default: the current directory).
The command checks the frontmatter against the JSON Schema of a profile, and checks links,
scripts, and files to which the frontmatter refers. The command also searches all files for
malicious and risky content, compares skills with each other, and checks skillpm.yaml,
skillpm.lock, index entries, policies, and baselines.

What a skill can do, such as the hosts that its scripts reach, is not a finding: the report
summarizes it for each skill. For more than ten skills, this needs --capabilities.

Each finding shows a file, line, column, rule, and fix; "skillpm explain ID" explains a
rule. The summary counts the findings of each rule. --quiet omits notes and, without errors
and warnings, the summary; --verbose shows all findings of a rule. The exit code is 3 if
there are errors or, with --diff, if there are changes.

--output writes a report to a file. The extension selects the format: .txt, .json, .sarif,
or .xml for JUnit. FORMAT=FILE selects another format. --format sets the format of standard
output. With --watch, the format ndjson prints each report as one line of JSON.`,
		Example: `  skillpm validate  # skills below this directory
  skillpm validate ./skills/deploy  # one skill
  skillpm validate --fix  # apply safe fixes
  skillpm validate --profile claude-code  # as one agent reads them
  skillpm validate --profile all  # as every known agent reads them
  skillpm validate --policy  # also check the policies in effect
  skillpm validate --format github  # annotations in GitHub Actions
  skillpm validate --output out.sarif  # also write a report to a file`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Paths = args
			return a.validate(cmd, o, flags)
		},
	}
	a.addCheckFlags(cmd, &o)
	f := cmd.Flags()
	f.StringSliceVar(&flags.formats, "format", nil, "print the report as `FORMAT`: "+textx.Or(
		render.FormatNames())+" (default text)")
	f.StringArrayVarP(&flags.outputs, "output", "o", nil, "write a report to `[FORMAT=]FILE` (repeatable)")
	f.BoolVar(&flags.showSuppressed, "show-suppressed", false, "also report suppressed findings (in text and sarif)")
	f.BoolVar(&flags.capabilities, "capabilities", false, "list what every skill can do (in text)")
	addFixScope(f, &flags.fix, "fix", "fix findings that have a safe fix; `names` also changes names of skills")
	addFixScope(f, &flags.diff, "diff", "print the changes of --fix (`names`: --fix=names) as a patch")
	f.BoolVar(&flags.stdin, "stdin", false, "validate standard input; --stdin-filename sets its path")
	f.BoolVar(&flags.watch, "watch", false, "validate again when files change")
	flags.baseline.add(cmd)
	console.MarkRare(cmd, "check-scripts", "enable", "disable", "no-config", "baseline", "no-baseline", "policy-file", "budget",
		"stdin-filename", "parallel", "show-suppressed", "capabilities", "stdin", "write-baseline", "reason")
	for _, name := range []string{"fix", "diff"} {
		a.CompleteFlag(cmd, name, func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return console.Matching([]string{string(fixSafe), string(fixNames)}, prefix), cobra.ShellCompDirectiveNoFileComp
		})
	}
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
	f.StringSliceVar(&o.Profiles, "profile", nil,
		"validate for the profiles `IDS`, or all: "+textx.And(profile.IDs())+" (default "+profile.Default+")")
	f.BoolVar(&o.Strict, "strict", false, "treat warnings as errors (except capability notes)")
	f.StringSliceVar(&o.Enable, "enable", nil,
		"enable opt-in `RULES`: ids, families such as STY, or prefixes such as SEC2*")
	f.StringSliceVar(&o.Disable, "disable", nil, "disable `RULES`")
	f.BoolVar(&o.NoConfig, "no-config", false, "ignore the validate settings in skillpm.yaml")
	f.StringVar(&o.Baseline, "baseline", "", "accept the findings in the baseline `FILE`")
	f.BoolVar(&o.NoBaseline, "no-baseline", false, "ignore the baseline")
	f.BoolVar(&o.CheckScripts, "check-scripts", false,
		"also check Python, JavaScript, and TypeScript with python3 and node, which do not run them")
	f.BoolVar(&o.Changed, "changed", false, "validate only skills that differ from the last commit")
	f.StringVar(&o.Since, "changed-since", "",
		"validate only skills that changed since `REF`: a branch, tag, or commit")
	f.IntVar(&o.Budget, "budget", 0, "fail if the list of skills costs an agent more than `TOKENS`")
	f.BoolVar(&o.Policy, "policy", false, "also check skills against the policies in effect")
	f.StringVar(&o.PolicyFile, "policy-file", "",
		"check skills against the policy in `FILE` instead of the policies in effect")
	f.StringVar(&o.StdinName, "stdin-filename", "", "use `FILE` as the path of standard input; the file need not exist")
	f.IntVar(&o.Parallel, "parallel", 0, "validate `N` skills in parallel (0 = one per CPU)")
	a.CompleteFlag(cmd, "profile", func(cmd *cobra.Command, args []string, prefix string) ([]string,
		cobra.ShellCompDirective,
	) {
		ids, _ := a.CompleteProfiles(cmd, args, prefix)
		return append(ids, console.Matching([]string{"all"}, prefix)...), cobra.ShellCompDirectiveNoFileComp
	})
	a.CompleteFlag(cmd, "enable", completeRules)
	a.CompleteFlag(cmd, "disable", completeRules)
}

// validate checks and reports. Error findings only set the exit code.
func (a *app) validate(cmd *cobra.Command, o publish.ValidateOptions, flags validateFlags) error {
	o.Changed = o.Changed || o.Since != ""
	o.Lenient = cmd.Flags().Changed("strict") && !o.Strict
	if err := checkFlags(o, flags); err != nil {
		return err
	}
	if flags.watch && (a.JSON || slices.Contains(flags.formats, "json")) {
		return diag.Errorf(diag.Usage, "--watch cannot be used with --json or --format json").
			WithHint("use --format ndjson, which prints one report per line")
	}
	if a.JSON && !slices.Contains(flags.formats, "json") {
		flags.formats = append(flags.formats, "json")
	}
	formats, err := render.FindFormats(flags.formats)
	if err != nil {
		return err
	}
	if flags.diff != "" && !a.JSON {
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
			return fmt.Errorf("cannot read standard input: %w", err)
		}
	}
	o.Edits = slices.ContainsFunc(destinations, func(d render.Destination) bool { return d.Edits })
	o.Evidence = slices.ContainsFunc(destinations, func(d render.Destination) bool { return d.Evidence })
	if slices.ContainsFunc(destinations, func(d render.Destination) bool { return d.IsText() }) {
		switch {
		case flags.capabilities || a.Verbose > 0 || o.Changed:
			o.Capabilities = -1
		case !a.Quiet:
			o.Capabilities = render.MaxCapable
		}
	}
	out := render.Outcome{
		Version: console.BuildVersion(a.Version), Dir: c.Dir, Workspace: a.Getenv("GITHUB_WORKSPACE"), JobSummary: a.Getenv("GITHUB_STEP_SUMMARY"),
		ShowSuppressed: flags.showSuppressed, ShowCapabilities: flags.capabilities, Stdin: o.StdinName,
	}
	if flags.watch {
		return a.watch(cmd.Context(), c, o, out, destinations)
	}
	if flags.fix == "" && flags.diff == "" {
		if out.Report, err = c.Validate(cmd.Context(), o); err != nil {
			return err
		}
		return a.finish(out, destinations)
	}
	o.Renames = flags.fix == fixNames || flags.diff == fixNames
	fixed, fixErr := c.Fix(cmd.Context(), o, flags.diff != "")
	if fixed == nil {
		return fixErr
	}
	out.Report, out.Fixed, out.Dry = fixed.Report, fixed.Files, flags.diff != ""
	if err := a.finish(out, destinations); fixErr == nil {
		return err
	}
	return fixErr
}

// changes reports whether there is --fix or --diff.
func (f validateFlags) changes() bool { return f.fix != "" || f.diff != "" }

// checkFlags rejects conflicting flags.
func checkFlags(o publish.ValidateOptions, flags validateFlags) error {
	switch {
	case o.Budget < 0:
		return diag.Errorf(diag.Usage, "--budget must be at least 1, not %d", o.Budget)
	case o.Parallel < 0:
		return diag.Errorf(diag.Usage, "--parallel must be at least 0, not %d", o.Parallel)
	case flags.stdin && o.StdinName == "":
		return diag.Errorf(diag.Usage, "--stdin needs --stdin-filename, because rules depend on the path").
			WithHint("add the path of the file, for example: --stdin-filename skills/deploy/SKILL.md")
	case o.StdinName != "" && !flags.stdin:
		return diag.Errorf(diag.Usage, "--stdin-filename needs --stdin")
	case flags.stdin && flags.changes():
		return diag.Errorf(diag.Usage, "--stdin cannot be used with --fix or --diff").
			WithHint("use --format json, which includes the edits that fix findings")
	case flags.fix != "" && flags.diff != "":
		return diag.Errorf(diag.Usage, "--fix cannot be used with --diff")
	case flags.watch && (flags.changes() || flags.stdin || flags.baseline.write):
		return diag.Errorf(diag.Usage, "--watch cannot be used with --fix, --diff, --stdin, or --write-baseline")
	case o.Baseline != "" && o.NoBaseline:
		return diag.Errorf(diag.Usage, "--baseline cannot be used with --no-baseline")
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
