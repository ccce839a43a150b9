package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/skilltest"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// testFlags are the flags of "test".
type testFlags struct {
	run, format string
	update      bool
	profile     string
}

func newTest(a *app) *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Use:   "test [SKILL|DIR...]",
		Short: "Run the tests of skills",
		Long: `Tests are YAML files in the tests directory of a skill. Each file contains test cases. DIR
(default: this directory) is a skill, or a directory that contains skills, for example in
.skillpm/skills. SKILL is the name of an available skill.

A case activates the skill and compares its text, checks tool calls while the skill is
active, or runs a script and compares the output. Each case has its own copy of the skill,
an empty project, and an empty home directory. Cases do not call tools, and can replace
the programs that a script runs. "skillpm schema skill-test" prints the format of the
files.

--update rewrites the expected texts. --run selects cases with a regular expression
for their full names, skill/file/name. -v also lists passed cases.

Exit code 3 means that a case failed or a file is invalid, and 4 that no tests exist.`,
		Example: `  skillpm test
  skillpm test review-changes
  skillpm test skills/deploy --run production -v
  skillpm test skills/deploy --update
  skillpm test --format junit > report.xml`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if names, _ := a.CompleteSkills(cmd, nil, prefix); len(names) > 0 && prefix != "" {
				return names, cobra.ShellCompDirectiveDefault
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return a.test(cmd.Context(), args, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.run, "run", "", "run only cases whose names match `PATTERN`")
	flags.StringVar(&f.format, "format", "text", "print as `FORMAT`: text, json, or junit")
	flags.StringVar(&f.profile, "profile", "", "use the profile `ID` for tests that do not name a profile")
	flags.BoolVar(&f.update, "update", false, "rewrite the expected texts")
	a.CompleteFlag(cmd, "profile", a.CompleteProfiles)
	a.CompleteFlag(cmd, "run", cobra.NoFileCompletions)
	a.CompleteFlag(cmd, "format", func(_ *cobra.Command, _ []string, prefix string) ([]string,
		cobra.ShellCompDirective,
	) {
		return console.Matching([]string{"text", "json", "junit"}, prefix), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// test runs the tests of all skills in the directories.
func (a *app) test(ctx context.Context, dirs []string, f testFlags) error {
	if a.JSON {
		f.format = "json"
	}
	if !slices.Contains([]string{"text", "json", "junit"}, f.format) {
		return diag.Errorf(diag.Usage, "unknown --format %q", console.Printable(f.format)).
			WithHint("use text, json, or junit")
	}
	pattern, err := regexp.Compile(f.run)
	if err != nil {
		return diag.Errorf(diag.Usage, "--run %s is not a regular expression: %w", console.Printable(f.run), err)
	}
	env, err := a.Env()
	if err != nil {
		return err
	}
	skills, err := a.skillsIn(ctx, dirs, f.profile)
	if err != nil {
		return err
	}
	o := skilltest.Options{
		Profile: f.profile, Update: f.update, Config: env.Paths.Config, Getenv: a.Getenv, Now: a.Now,
		Enterprise: env.Paths.Enterprise, OS: a.OS, Admin: a.Admin, Helper: console.Confiner(),
	}
	warned := map[string]bool{}
	o.Warn = func(text string) {
		if !warned[text] {
			warned[text] = true
			a.Warn("%s", text)
		}
	}
	if o.Profile == "" {
		o.Profile = a.Getenv("SKILLPM_PROFILE")
	}
	o.Match = pattern.MatchString
	h, err := a.Host(ctx, &console.RuntimeFlags{Profile: o.Profile})
	if err != nil {
		return err
	}
	c, err := h.Catalog(ctx)
	if err != nil {
		return err
	}
	o.Projects = h.PolicyProjects()
	o.Others = skilltest.Listed(a.locations(skills), o)
	for _, k := range c.Skills() {
		if k.Scope == catalog.ScopeProject {
			o.Others = append(o.Others, k)
		}
	}
	report := &skilltest.Summary{}
	for _, dir := range skills {
		o.As, err = testedSkill(h, c, a.location(dir))
		if err != nil {
			return err
		}
		s, err := a.testSkill(ctx, dir, o)
		if err != nil {
			return err
		}
		if report.Add(s) && f.format == "text" {
			a.printTested(s, a.Verbose > 0)
		}
	}
	return a.endTest(report, f)
}

// locations resolves paths relative to the command's working directory.
func (a *app) locations(paths []string) []string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = a.location(p)
	}
	return list
}

// skillsIn returns the directories of the skills at and below the paths, and of the named skills, without duplicates.
func (a *app) skillsIn(ctx context.Context, dirs []string, profile string) ([]string, error) {
	var out []string
	for _, d := range dirs {
		if info, err := os.Stat(a.location(d)); errors.Is(err, os.ErrNotExist) {
			named, ok := a.skillNamed(ctx, d, profile)
			if !ok {
				return nil, diag.Errorf(diag.NotFound, "%s is neither a directory nor an available skill",
					console.Printable(d)).
					WithHint("list available skills with: skillpm skills")
			}
			d = named
		} else if err == nil && !info.IsDir() {
			return nil, diag.Errorf(diag.Usage, "%s is not a directory", console.Printable(d)).
				WithHint("use the directory of the skill, and select tests with --run")
		}
		found, err := skilltest.Find(os.DirFS(a.location(d)), ".")
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if dir := filepath.Join(d, filepath.FromSlash(f)); !slices.Contains(out, dir) {
				out = append(out, dir)
			}
		}
	}
	if len(out) == 0 {
		return nil, diag.Errorf(diag.NotFound, "no skill found in %s", console.Printable(strings.Join(dirs, ", "))).
			WithHint("name a directory that contains a SKILL.md")
	}
	return out, nil
}

// location resolves a path relative to the command's working directory.
func (a *app) location(path string) string {
	dir, err := a.WorkDir()
	if err != nil || filepath.IsAbs(path) {
		return a.Abs(path)
	}
	return filepath.Join(dir, path)
}

// skillNamed returns the directory of an available skill, relative to the working directory if it is inside.
func (a *app) skillNamed(ctx context.Context, name, profile string) (dir string, ok bool) {
	h, err := a.Host(ctx, &console.RuntimeFlags{Profile: profile})
	if err != nil {
		return "", false
	}
	k, err := h.Lookup(ctx, name)
	if err != nil {
		return "", false
	}
	if rel, ok := pathx.Rel(a.location("."), k.Dir); ok {
		return rel, true
	}
	return k.Dir, true
}

// testSkill runs the offline tests of one skill. The result contains the errors in its files.
func (a *app) testSkill(ctx context.Context, dir string, o skilltest.Options) (skilltest.Skill, error) {
	location := a.location(dir)
	running := activity.Begin(ctx, &activity.Wait{Items: "running tests of " + console.Flat(location)})
	defer running.End()
	s, err := skilltest.RunSkill(ctx, location, o)
	s.Dir = filepath.ToSlash(dir)
	return s, err
}

// testedSkill returns the skill that policies check: the available skill from its directory, or else a local skill. It
// returns nil without policies.
func testedSkill(h *runtime.Host, c *catalog.Catalog, dir string) (*enforce.Skill, error) {
	if len(h.Guard().Policies()) == 0 {
		return nil, nil
	}
	as := &enforce.Skill{Name: filepath.Base(dir), Dir: dir}
	if data, err := safefile.ReadFile(filepath.Join(dir, skill.File), skill.MaxFile); err == nil {
		doc, _ := skill.Parse(data)
		as.Declared = doc.Name()
	}
	want, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range c.All() {
		if e.Skill == nil {
			continue
		}
		if info, err := os.Stat(e.Dir); err == nil && os.SameFile(want, info) {
			known := h.PolicySkill(e.Skill)
			return &known, nil
		}
	}
	return as, nil
}

// printTested prints the results of a skill's tests: each failed case, and a line for the skill.
func (a *app) printTested(s skilltest.Skill, verbose bool) {
	p := a.Palette(a.Stdout)
	passed, took := 0, time.Duration(0)
	for _, r := range s.Results {
		took += r.Took
		if r.Outcome == skilltest.Passed {
			passed++
		}
		if r.Outcome == skilltest.Failed || verbose || len(r.Updated) > 0 {
			a.printCase(p, s, r)
		}
	}
	if s.Err != nil {
		for line := range strings.Lines(s.Problem) {
			fmt.Fprintf(a.Stdout, "%s %s\n", p.Red("invalid"),
				console.Printable(s.Dir+"/"+strings.TrimRight(line, "\n")))
		}
		if hint := diag.HintOf(s.Err); hint != "" {
			fmt.Fprintf(a.Stdout, "        %s\n", console.Printable(hint))
		}
	}
	state := p.Green("ok     ")
	if s.Failed() {
		state = p.Red("FAILED ")
	}
	fmt.Fprintf(a.Stdout, "%s %s  %d of %d passed  %s\n", state, console.Printable(s.Dir), passed,
		len(s.Results), took.Round(time.Millisecond))
}

func (a *app) printCase(p console.Palette, s skilltest.Skill, r skilltest.Result) {
	role := map[string]console.Role{
		skilltest.Passed: console.Good, skilltest.Failed: console.Bad, skilltest.Skipped: console.Attention,
	}[r.Outcome]
	text := fmt.Sprintf("%s  %s/%s:%d", console.Flat(r.Name), s.Dir, r.File, r.Line)
	if r.Reason != "" {
		text += ": " + console.Flat(r.Reason)
	}
	fmt.Fprintf(a.Stdout, "%s %s\n", p.Paint(role, fmt.Sprintf("%-7s", r.Outcome)),
		console.Printable(text))
	for _, w := range r.Mismatches {
		fmt.Fprintf(a.Stdout, "        %s\n", console.Flat(w.Message))
		for line := range strings.Lines(textdiff.Visible(w.Diff)) {
			fmt.Fprintf(a.Stdout, "          %s\n", p.DiffLine(strings.TrimRight(line, "\n")))
		}
	}
	for _, u := range r.Updated {
		fmt.Fprintf(a.Stdout, "        rewrote %s\n", console.Printable(s.Dir+"/"+u))
	}
}

// endTest prints the summary, and returns the error with the exit code.
func (a *app) endTest(r *skilltest.Summary, f testFlags) error {
	if len(r.Skills) == 0 {
		if f.run != "" {
			return diag.Errorf(diag.NotFound, "no case has a name that matches %s", console.Printable(f.run)).
				WithHint("list all cases with: skillpm test -v")
		}
		return diag.Errorf(diag.NotFound, "no tests found").
			WithHint(
				"add YAML files to the tests directory of the skill, and print their format with: skillpm schema skill-test")
	}
	switch f.format {
	case "json":
		if err := a.PrintJSON(r); err != nil {
			return err
		}
	case "junit":
		if err := renderTestJUnit(a.Stdout, r); err != nil {
			return err
		}
	default:
		var parts []string
		for _, p := range []struct {
			n    int
			what string
		}{{r.Passed, "passed"}, {r.Failed, "failed"}, {r.Skipped, "skipped"}, {r.Invalid, "invalid"}} {
			if p.n > 0 || p.what == "passed" {
				parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
			}
		}
		if !a.Quiet {
			fmt.Fprintln(a.Stdout, strings.Join(parts, ", "))
		}
	}
	if r.Failed > 0 || r.Invalid > 0 {
		return console.Reported{Exit: diag.Invalid}
	}
	return nil
}
