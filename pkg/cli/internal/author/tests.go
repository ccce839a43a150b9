package author

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/evaluate"
	"github.com/skillpm/skillpm/pkg/cli/internal/skilltest"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/sign"
)

// offlineTests runs the offline tests of the skills in directories, as "skillpm test" does. The skills compete with one
// another for their trigger queries. Scripts are confined, because a job that publishes has credentials, and a pack can
// require its tests also for a dry run.
func (a *app) offlineTests(ctx context.Context, dirs []string) ([]publish.SkillTests, error) {
	env, err := a.Env()
	if err != nil {
		return nil, err
	}
	h, err := a.Host(ctx, &console.RuntimeFlags{})
	if err != nil {
		return nil, err
	}
	o := skilltest.Options{
		Profile: a.Getenv("SKILLPM_PROFILE"), Config: env.Paths.Config, Getenv: a.Getenv, Now: a.Now,
		Enterprise: env.Paths.Enterprise, OS: a.OS, Admin: a.Admin, Helper: console.Confiner(),
		Confine: true, Projects: h.PolicyProjects(), Warn: func(text string) { a.Warn("%s", text) },
	}
	o.Others = skilltest.ListSkills(dirs, o)
	var all []publish.SkillTests
	for _, dir := range dirs {
		s, err := skilltest.RunSkill(ctx, dir, o)
		if err != nil {
			return nil, err
		}
		one := publish.SkillTests{Problem: s.Err}
		for _, r := range s.Results {
			name := s.Name + "/" + strings.TrimPrefix(r.File, skilltest.Dir+"/") + "/" + r.Name
			switch r.Outcome {
			case skilltest.Passed:
				one.Passed = append(one.Passed, name)
			case skilltest.Failed:
				one.Failed = append(one.Failed, name)
			default:
				one.Skipped = append(one.Skipped, name)
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// evaluations reads the reports of evaluations with an agent.
func (a *app) evaluations(files []string) ([]publish.Evaluation, error) {
	var all []publish.Evaluation
	for _, name := range files {
		r, err := evaluate.ReadBaseline(a.Abs(name))
		if err != nil {
			return nil, err
		}
		if r.Interrupted {
			return nil, diag.Errorf(diag.Invalid, "cannot publish the test report %s: the evaluation was interrupted", name).
				WithHint("continue the evaluation with: skillpm test --agent AGENT --output FILE --continue")
		}
		all = append(all, evaluation(filepath.ToSlash(name), r))
	}
	return all, nil
}

// evaluation summarizes a report. A case fails if fewer than half of its runs with the skill passed, as in
// [evaluate.CheckThreshold], and has a warning if not all of them did.
func evaluation(name string, r *evaluate.Report) publish.Evaluation {
	e := publish.Evaluation{Name: name, Skills: map[string]string{}}
	result := &e.Result
	result.TestRun = sign.TestRun{Agent: agentName(r.Agent), Model: r.Model, Time: r.Started.UTC()}
	for _, s := range r.Skills {
		e.Skills[s.Name] = s.Digest
		for _, c := range s.Cases {
			with, test := passRate(c, evaluate.With), path.Join(s.Name, c.ID)
			switch {
			case with.Runs == 0:
				continue
			case with.Passed == with.Runs:
				result.Passed = append(result.Passed, test)
			case 2*with.Passed < with.Runs:
				result.Failed = append(result.Failed, test)
			default:
				result.Warned = append(result.Warned, test)
			}
			if c.Kind == evaluate.Trigger {
				result.Queries = result.Queries.Add(with)
				continue
			}
			result.With = result.With.Add(with)
			result.Without = result.Without.Add(passRate(c, evaluate.Without))
		}
	}
	return e
}

// agentName returns the id of an agent, or the name of the program of a command: the arguments and the directory are not
// for the public.
func agentName(agent string) string {
	program, _, _ := strings.Cut(agent, " ")
	return path.Base(filepath.ToSlash(program))
}

// passRate counts the runs of a case that measured something.
func passRate(c evaluate.Case, v evaluate.Variant) (rate sign.TestRate) {
	for _, run := range c.Runs {
		if run.Variant != v || run.Outcome == evaluate.Errored {
			continue
		}
		rate.Runs++
		if run.Outcome == evaluate.Passed {
			rate.Passed++
		}
	}
	return rate
}
