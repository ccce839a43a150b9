package serve

import (
	"cmp"
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
	"github.com/skillpm/skillpm/pkg/cli/internal/evaluate"
	"github.com/skillpm/skillpm/pkg/cli/internal/skilltest"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/textdiff"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// testFlags are the flags of "test".
type testFlags struct {
	run, format string
	update      bool
	profile     string
	live        liveFlags
}

func newTest(a *app) *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Use:   "test [SKILL|DIR...]",
		Short: "Run the tests of skills",
		Long: `DIR (default: this directory) is a skill, or a directory that contains skills, for example
in .skillpm/skills. SKILL is the name of an available skill. A skill can have:

  tests/*.yaml         cases that activate the skill and compare its text, check
                       tool calls, or run a script and compare the output
  evals/*queries.json  trigger queries, prompts that should lead to the skill or
                       not: [{"query": "draw a map", "should_trigger": true}]
  evals/evals.json     tasks for an agent, with assertions and graders

The cases and the trigger queries need no agent. Each case has its own copy of the skill,
an empty project, and an empty home directory. Scripts run in the sandbox if the machine
has one. Cases do not call tools, and can replace the programs that a script runs. A
trigger query passes if a search of names, descriptions, and tags finds the skill first
among the tested skills and those of the project, or, if it should not trigger, does not.
A failed query shows the skill found, and the words that the description does not contain.
"skillpm schema skill-test" and "skillpm schema skill-evals" print the formats.

--update rewrites the expected texts. --run selects cases with a regular expression
for their full names, skill/file/name. -v also lists passed cases.

Evaluation with an agent:

--agent also runs the tasks and the trigger queries with a real agent: claude-code, codex,
or gemini. Any other command runs only the tasks, because its output does not show
activations. It gets the prompt as {prompt} or on standard input, and reads the skill from
.agents/skills. Each run has a new project with the task's input files, and only this skill.
The agent runs with your permissions and login, and does not ask: it denies what its own
settings do not allow. --agent-args selects its model and permissions. Commands of graders
run in the sandbox. The same agent judges assertions. You pay for all runs: each case runs
--repeat times for each variant.

A query passes if the agent activates the skill in at least half of the runs, or, if it
should not trigger, in fewer. Its runs end when the skill is activated, or after 2 minutes.
A task passes if at least half of the runs pass.
--fail-below decides by the share of all runs instead. --compare adds runs without the
skill, or with a version from git. The command also fails if a pass rate is lower, by more
than chance, than that of the version or of --baseline. To continue an interrupted
evaluation, run the same command with --continue.

Exit code 3 means that a case failed or a file is invalid, and 4 that no tests exist.`,
		Example: `  skillpm test
  skillpm test review-changes
  skillpm test skills/deploy --run production -v
  skillpm test skills/deploy --update
  skillpm test --format junit > report.xml
  skillpm test skills/deploy --agent claude-code --compare without
  skillpm test --agent codex --agent-args '--sandbox workspace-write' --repeat 5
  skillpm test --agent 'opencode run {prompt}' -o new.json --baseline old.json`,
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
			if err := f.live.check(a, cmd.Flags().Changed); err != nil {
				return err
			}
			return a.test(cmd.Context(), args, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.run, "run", "", "run only cases whose names match `PATTERN`")
	flags.StringVar(&f.format, "format", "text", "print as `FORMAT`: text, json, or junit")
	flags.StringVar(&f.profile, "profile", "", "use the profile `ID` for tests that do not name a profile")
	flags.BoolVar(&f.update, "update", false, "rewrite the expected texts")
	f.live.add(a, cmd)
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
func (a *app) test(ctx context.Context, dirs []string, f *testFlags) error {
	if a.JSON {
		f.format = "json"
	}
	if !slices.Contains([]string{"text", "json", "junit"}, f.format) {
		return diag.Errorf(diag.Usage, "unknown --format %q", f.format).
			WithHint("use text, json, or junit")
	}
	pattern, err := regexp.Compile(f.run)
	if err != nil {
		return diag.Errorf(diag.Usage, "--run %s is not a regular expression: %w", f.run, err)
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
		Enterprise: env.Paths.Enterprise, OS: a.OS, Admin: a.Admin, Helper: console.Confiner(), Confine: true,
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
	o.Others = skilltest.ListSkills(a.locations(skills), o)
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
	if f.live.agent == "" {
		return a.endTest(report, nil, f)
	}
	live, runErr := a.evaluate(ctx, skills, f, h, c, o, pattern)
	if live == nil {
		return runErr
	}
	return a.endEvaluation(ctx, a.endTest(report, live, f), runErr, live)
}

// endEvaluation returns the error of a command whose evaluation may have ended early.
func (a *app) endEvaluation(ctx context.Context, err, runErr error, live *evaluate.Report) error {
	if ctx.Err() == nil {
		return cmp.Or(runErr, err)
	}
	runs := 0
	for _, s := range live.Skills {
		for _, c := range s.Cases {
			runs += len(c.Runs)
		}
	}
	a.Warn("interrupted; %s finished", textx.CountOf(runs, "run is", "runs are"))
	a.Hint("run the same command with --continue to keep the finished runs")
	return console.Reported{Exit: diag.Interrupted}
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
				return nil, diag.Errorf(diag.NotFound, "%s is neither a directory nor an available skill", d).
					WithHint("list available skills with: skillpm skills")
			}
			d = named
		} else if err == nil && !info.IsDir() {
			return nil, diag.Errorf(diag.Usage, "%s is not a directory", d).
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
		return nil, diag.Errorf(diag.NotFound, "no skill found in %s", strings.Join(dirs, ", ")).
			WithHint("name a directory that contains a SKILL.md, or create a skill with: skillpm new NAME")
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
	return skilltest.LocalSkill(dir), nil
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
	if verbose {
		for _, note := range s.Notes {
			fmt.Fprintf(a.Stdout, "note    %s\n", console.Printable(s.Dir+"/"+note))
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

// testDocument is the output of "test --json".
type testDocument struct {
	skilltest.Summary

	Evaluation *evaluate.Document `json:"evaluation,omitempty"` // results of the evaluation with an agent
}

// endTest prints the summary and the evaluation with an agent, if there is one, and returns the error with the exit code.
func (a *app) endTest(r *skilltest.Summary, live *evaluate.Report, f *testFlags) error {
	if len(r.Skills) == 0 && live == nil {
		return a.noTests(r, f)
	}
	var short []evaluate.Shortfall
	failed := !r.OK()
	if live != nil {
		short = evaluate.CheckThreshold(live, f.live.base, f.live.failBelow)
		failed = failed || len(short) > 0
	}
	if err := a.printTests(r, live, short, f); err != nil {
		return err
	}
	if failed {
		return console.Reported{Exit: diag.Invalid}
	}
	return nil
}

// noTests returns the error that no test was run.
func (a *app) noTests(r *skilltest.Summary, f *testFlags) error {
	switch {
	case f.run != "":
		return diag.Errorf(diag.NotFound, "no case has a name that matches %s", f.run).
			WithHint("list all cases with: skillpm test -v")
	case r.Tasks > 0:
		return diag.Errorf(diag.NotFound, "no tests found that run without an agent").
			WithHint("run %s with an agent, for example: skillpm test --agent claude-code",
				textx.Count(r.Tasks, "task"))
	}
	return diag.Errorf(diag.NotFound, "no tests found").
		WithHint("add YAML files to the tests directory of the skill, and print their format with: " +
			"skillpm schema skill-test")
}

// printTests prints the results in a format.
func (a *app) printTests(r *skilltest.Summary, live *evaluate.Report, short []evaluate.Shortfall, f *testFlags) error {
	switch f.format {
	case "json":
		doc := testDocument{Summary: *r}
		if live != nil {
			doc.Evaluation = &evaluate.Document{Report: *live, Summary: evaluate.Summarize(live, f.live.base)}
		}
		return a.PrintJSON(doc)
	case "junit":
		return renderTestJUnit(a.Stdout, r, live, short)
	}
	if len(r.Skills) > 0 && !a.Quiet {
		a.printCounts(r, live == nil)
	}
	if live == nil {
		return nil
	}
	if len(r.Skills) > 0 {
		fmt.Fprintln(a.Stdout)
	}
	err := evaluate.WriteText(a.Stdout, live, f.live.base, evaluate.TextOptions{
		Palette: a.Palette(a.Stdout), Width: console.TerminalWidth(a.Stdout), ASCII: a.ASCII(),
		Verbose: a.Verbose > 0,
	})
	for _, s := range short {
		fmt.Fprintf(a.Stdout, "%s %s\n", a.Palette(a.Stdout).Red("FAILED"), console.Flat(s.String()))
	}
	return err
}

// printCounts prints the number of cases by outcome, and of the tasks that did not run.
func (a *app) printCounts(r *skilltest.Summary, tasks bool) {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{r.Passed, "passed"}, {r.Failed, "failed"}, {r.Skipped, "skipped"}, {r.Invalid, "invalid"}} {
		if p.n > 0 || p.what == "passed" {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	fmt.Fprintln(a.Stdout, strings.Join(parts, ", "))
	if tasks && r.Tasks > 0 {
		fmt.Fprintf(a.Stdout, "%s an agent: run \"skillpm test --agent AGENT\"\n",
			textx.CountOf(r.Tasks, "task needs", "tasks need"))
	}
}
