package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/evalfile"
	"github.com/skillpm/skillpm/pkg/cli/internal/evaluate"
	"github.com/skillpm/skillpm/pkg/cli/internal/skilltest"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// liveFlags are the flags of "test" for an evaluation with an agent.
type liveFlags struct {
	agent, arguments       string
	repeat, parallel       int
	compare                []string
	timeout                time.Duration
	again                  bool
	output, html, baseline string
	failBelow              float64

	without  bool   // from compare
	previous string // from compare
	base     *evaluate.Report
}

// Limits of the flags.
const (
	maxRepeat   = 100
	maxParallel = 64
)

// compareWithout is the value of --compare for runs without the skill.
const compareWithout = "without"

func (f *liveFlags) add(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.agent, "agent", "", "also evaluate with `AGENT`: an id, or a command with {prompt}")
	flags.StringVar(&f.arguments, "agent-args", "", "add `ARGUMENTS` to the agent's command line")
	flags.IntVar(&f.repeat, "repeat", 3, "run each case `N` times")
	flags.IntVar(&f.parallel, "parallel", 4, "run at most `N` cases at the same time")
	flags.StringSliceVar(&f.compare, "compare", nil,
		"also run `VARIANT`: without, previous, or a git revision (repeatable)")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Minute, "end a run after `DURATION`, such as 90s")
	flags.BoolVar(&f.again, "continue", false, "keep the finished runs of an interrupted evaluation")
	flags.StringVarP(&f.output, "output", "o", "", "write the evaluation as JSON to `FILE`")
	flags.StringVar(&f.html, "html", "", "write a page with the evaluation to `FILE`")
	flags.StringVar(&f.baseline, "baseline", "", "compare with the evaluation in `FILE`, which --output wrote")
	flags.Float64Var(&f.failBelow, "fail-below", 0, "with --agent, fail if fewer than `PERCENT` of a skill's runs pass")
	a.CompleteFlag(cmd, "agent", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return evaluate.AgentIDs(), cobra.ShellCompDirectiveNoFileComp
	})
	a.CompleteFlag(cmd, "compare", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{compareWithout, evaluate.PreviousCommit}, cobra.ShellCompDirectiveNoFileComp
	})
	for _, name := range []string{"agent-args", "repeat", "parallel", "timeout", "fail-below"} {
		a.CompleteFlag(cmd, name, cobra.NoFileCompletions)
	}
}

// check checks the flags and reads the baseline.
func (f *liveFlags) check(a *app, changed func(string) bool) error {
	if f.agent == "" {
		for _, name := range []string{
			"agent-args", "compare", "continue", "output", "html", "baseline", "fail-below",
		} {
			if changed(name) { // variables set the others, also for other commands
				return diag.Errorf(diag.Usage, "--%s needs --agent", name).
					WithHint("evaluate with an agent, for example: --agent claude-code")
			}
		}
		return nil
	}
	switch {
	case f.repeat < 1 || f.repeat > maxRepeat:
		return diag.Errorf(diag.Usage, "--repeat must be between 1 and %d", maxRepeat)
	case f.parallel < 1 || f.parallel > maxParallel:
		return diag.Errorf(diag.Usage, "--parallel must be between 1 and %d", maxParallel)
	case f.timeout < time.Second:
		return diag.Errorf(diag.Usage, "--timeout must be at least 1s")
	case !(f.failBelow >= 0 && f.failBelow <= 100): // also rejects NaN
		return diag.Errorf(diag.Usage, "--fail-below must be between 0 and 100")
	}
	for _, c := range f.compare {
		switch {
		case c == compareWithout:
			f.without = true
		case c == "" || strings.HasPrefix(c, "-"):
			return diag.Errorf(diag.Usage, "--compare %q is not a git revision", c)
		case f.previous != "" && f.previous != c:
			return diag.Errorf(diag.Usage, "--compare names two revisions: %s and %s", f.previous,
				c).WithHint("compare with one revision, and with without")
		default:
			f.previous = c
		}
	}
	var err error
	if f.baseline != "" {
		f.base, err = evaluate.ReadBaseline(a.Abs(f.baseline))
	}
	return err
}

// evaluate evaluates the skills, and writes its files. The error is in addition to the report: why
// the evaluation ended early.
func (a *app) evaluate(ctx context.Context, dirs []string, f *testFlags, h *runtime.Host, c *catalog.Catalog,
	o skilltest.Options, pattern *regexp.Regexp,
) (*evaluate.Report, error) {
	live := &f.live
	env, err := a.Env()
	if err != nil {
		return nil, err
	}
	with, err := evaluate.NewAgent(live.agent, skill.SplitArguments(live.arguments), a.Getenv, a.Abs)
	if err != nil {
		return nil, err
	}
	targets, err := a.targets(ctx, dirs, h, c, o)
	if err != nil {
		return nil, err
	}
	a.Note("Evaluating with %s. Each run starts: %s", with.Title(), with.Command())
	report, runErr := evaluate.Evaluate(ctx, targets, evaluate.Options{
		Agent: with, Repeats: live.repeat, Parallel: live.parallel, Timeout: live.timeout, Without: live.without,
		Previous: live.previous, Match: pattern.MatchString, Continue: live.again,
		Cache: filepath.Join(env.Paths.Cache, "evaluations"), Home: env.Paths.Home, Helper: console.Confiner(),
		Unconfined: h.Guard().Policies().Unconfined(), Getenv: a.Getenv, Environ: env.Environ, Now: a.Now,
		Warn: a.Warn,
	})
	if report == nil {
		return nil, runErr
	}
	return report, errors.Join(runErr, a.writeEvaluation(report, live))
}

// targets reads the skills to evaluate. A skill that a policy denies is not run.
func (a *app) targets(ctx context.Context, dirs []string, h *runtime.Host, c *catalog.Catalog, o skilltest.Options) (
	list []evaluate.Target, err error,
) {
	for _, dir := range dirs {
		path := a.location(dir)
		suite, err := evalfile.Read(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		if len(suite.Tasks)+len(suite.Queries) == 0 {
			continue
		}
		listed := skilltest.ListSkills([]string{path}, o)
		if len(listed) == 0 {
			return nil, diag.Errorf(diag.Invalid, "%s is not available under the profile", dir).
				WithHint("show the problem with: skillpm validate %s", dir)
		}
		if o.As, err = testedSkill(h, c, path); err != nil {
			return nil, err
		}
		if err := skilltest.CheckPolicies(ctx, path, o); err != nil {
			return nil, err
		}
		list = append(list, evaluate.Target{
			Dir: filepath.ToSlash(dir), Path: path, Name: listed[0].Name, Suite: suite,
		})
	}
	return list, nil
}

// writeEvaluation writes the files of an evaluation.
func (a *app) writeEvaluation(r *evaluate.Report, f *liveFlags) error {
	if f.output != "" {
		var b bytes.Buffer
		err := console.WriteDocument(&b, evaluate.Document{Report: *r, Summary: evaluate.Summarize(r, f.base)})
		if err == nil {
			err = atomicfile.Write(a.Abs(f.output), b.Bytes(), atomicfile.Options{Mode: 0o644})
		}
		if err != nil {
			return err
		}
	}
	if f.html == "" {
		return nil
	}
	var b bytes.Buffer
	if err := evaluate.WriteHTML(&b, r, f.base); err != nil {
		return err
	}
	return atomicfile.Write(a.Abs(f.html), b.Bytes(), atomicfile.Options{Mode: 0o644})
}
