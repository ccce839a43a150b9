package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/evalfile"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Options configure [Evaluate].
type Options struct {
	Agent    *Agent
	Repeats  int           // runs of each case and variant
	Parallel int           // runs at the same time
	Timeout  time.Duration // of a run
	Without  bool          // also run tasks without the skill
	Previous string        // also run with an earlier version: "previous" or a revision; "" for none
	// names of the cases to run, as skill/file/ID or skill/file/prompt; nil for all
	Match func(name string) bool

	Cache    string // directory of finished runs
	Continue bool   // use finished runs of an earlier evaluation

	Home       string   // the user's home directory, which has the agent's login
	Helper     []string // the command that confines the commands of graders
	Unconfined bool     // a policy lets commands run where they cannot be confined
	Getenv     func(string) string
	Environ    func() []string // all variables, which the agent gets
	Now        func() time.Time
	Warn       func(format string, args ...any)
}

// Target is a skill to evaluate.
type Target struct {
	Dir   string // as on the command line, with slashes
	Path  string // its absolute path
	Name  string // under which agents know it
	Suite *evalfile.Suite
}

// maxFailedStarts is how many runs the agent may fail, before it completes one, until the evaluation ends.
const maxFailedStarts = 3

// runner runs an evaluation.
type runner struct {
	o       Options
	version string // of the agent
	targets []*target
	jobs    []*job
	waiting *activity.Wait
	began   time.Time
	stop    context.CancelCauseFunc

	mu       sync.Mutex
	executed int // runs of this evaluation, without those of the cache
	passed   int
	done     int
	answered int // runs that the agent completed
	failures int // runs that the agent could not complete
	model    string
}

// target is a skill with the copies of its variants.
type target struct {
	Target

	with, previous *snapshot
	commit         string // of previous
}

// job is one run of a case.
type job struct {
	target  *target
	task    *evalfile.Task  // nil for a query
	query   *evalfile.Query // nil for a task
	variant Variant
	number  int
	key     string // of the finished run
	run     *Run   // nil until it is finished
}

// Evaluate runs all cases of the skills. If ctx ends, it returns the results so far with the error; these are also in
// the cache, unless a run measured nothing.
func Evaluate(ctx context.Context, targets []Target, o Options) (*Report, error) {
	r := &runner{o: o, began: o.Now()}
	dir, err := realTemp("skillpm-eval-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the directory is temporary
	if err := r.prepare(ctx, targets, dir); err != nil {
		return nil, err
	}
	r.removeOld()
	if err := r.plan(); err != nil {
		return nil, err
	}
	err = r.work(ctx, dir)
	return r.report(err != nil), err
}

// prepare copies the skills and asks the agent for its version.
func (r *runner) prepare(ctx context.Context, targets []Target, dir string) (err error) {
	for i, t := range targets {
		if !fs.ValidPath(t.Name) || t.Name == "." || strings.ContainsAny(t.Name, `/\`) {
			return diag.Errorf(diag.Invalid, "%s: the name %q cannot be the name of a directory", t.Dir, t.Name)
		}
		own := &target{Target: t}
		at := filepath.Join(dir, "skills", fmt.Sprint(i))
		if own.with, err = takeSnapshot(safefile.Dir(t.Path), filepath.Join(at, "with")); err != nil {
			return fmt.Errorf("%s: %w", t.Dir, err)
		}
		if r.o.Previous != "" {
			own.previous, own.commit, err = takePrevious(ctx, t.Path, r.o.Previous, filepath.Join(at, "previous"))
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", t.Dir, err)
			case own.previous.digest == own.with.digest:
				r.o.Warn("%s has the same files in commit %.12s, so both versions do the same", t.Dir, own.commit)
			}
		}
		r.targets = append(r.targets, own)
	}
	r.version, err = r.o.Agent.version(ctx, r.o)
	return err
}

// plan lists the runs: the first of every case, then the second, so that an interrupted evaluation has results of all
// cases.
func (r *runner) plan() error {
	if !r.o.Agent.reports() && slices.ContainsFunc(r.targets, func(t *target) bool { return len(t.Suite.Queries) > 0 }) {
		r.o.Warn("trigger queries do not run, because the output of a command does not show which skills were activated")
	}
	for number := 1; number <= r.o.Repeats; number++ {
		for _, t := range r.targets {
			for i := range t.Suite.Tasks {
				task := &t.Suite.Tasks[i]
				if !r.matches(t, task.File, task.ID, task.Prompt) {
					continue
				}
				if len(gradersOf(task)) == 0 {
					if number == 1 {
						r.o.Warn("%s/%s:%d: the task has neither assertions nor graders, so skillpm does not run it", t.Dir,
							task.File, task.Line)
					}
					continue
				}
				for _, v := range r.variants(true) {
					if err := r.add(&job{target: t, task: task, variant: v, number: number}); err != nil {
						return err
					}
				}
			}
			for i := range t.Suite.Queries {
				query := &t.Suite.Queries[i]
				if !r.o.Agent.reports() || !r.matches(t, query.File, query.ID, query.Prompt) {
					continue
				}
				for _, v := range r.variants(false) {
					if err := r.add(&job{target: t, query: query, variant: v, number: number}); err != nil {
						return err
					}
				}
			}
		}
	}
	if len(r.jobs) == 0 {
		return diag.Errorf(diag.NotFound, "no task or trigger query to run").
			WithHint("add tasks to %s/%s of the skill, and print the format with: skillpm schema skill-evals",
				evalfile.Dir, evalfile.Name)
	}
	return nil
}

func (r *runner) matches(t *target, file string, names ...string) bool {
	return r.o.Match == nil || slices.ContainsFunc(names, func(name string) bool {
		return r.o.Match(t.Name + "/" + file + "/" + name)
	})
}

func (r *runner) variants(task bool) []Variant {
	list := []Variant{With}
	if task && r.o.Without {
		list = append(list, Without)
	}
	if r.o.Previous != "" {
		list = append(list, Previous)
	}
	return list
}

// add adds a run to the plan, finished if the evaluation continues another one that has it.
func (r *runner) add(j *job) (err error) {
	if j.key, err = r.keyOf(j); err != nil {
		return err
	}
	if r.o.Continue {
		j.run = r.load(j)
	} else {
		r.forget(j)
	}
	r.jobs = append(r.jobs, j)
	return nil
}

// work runs what is not finished.
func (r *runner) work(ctx context.Context, dir string) error {
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	r.waiting = activity.Begin(ctx, &activity.Wait{Items: "evaluating", Detail: r.detail})
	defer r.waiting.End()
	r.waiting.Expect(int64(len(r.jobs)))
	jobs := make(chan *job)
	var workers bug.WaitGroup
	for range min(r.o.Parallel, len(r.jobs)) {
		workers.Go(func() {
			for j := range jobs {
				r.execute(ctx, j, dir)
			}
		})
	}
	for _, j := range r.jobs {
		if j.run != nil {
			r.finished(j, false, true)
			continue
		}
		select {
		case jobs <- j:
		case <-ctx.Done():
		}
	}
	close(jobs)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return nil
}

// execute performs one run and keeps its result.
func (r *runner) execute(ctx context.Context, j *job, dir string) {
	if ctx.Err() != nil {
		return
	}
	result, err := r.perform(ctx, j, dir)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		result = &Run{Outcome: Errored, Error: diag.TextOf(err)}
	}
	result.Variant, result.Number = j.variant, j.number
	j.run = result
	if result.Outcome != Errored {
		r.save(j)
	}
	r.finished(j, true, err == nil)
}

// finished counts a finished run, and ends the evaluation if the agent does not work. A broken grader does not end it:
// other cases have other graders.
func (r *runner) finished(j *job, now, answered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if now {
		r.executed++
	}
	if j.run.Outcome == Passed {
		r.passed++
	}
	if answered {
		r.answered++
	} else {
		r.failures++
	}
	r.waiting.Receive(1)
	if r.answered == 0 && r.failures >= min(maxFailedStarts, len(r.jobs)) {
		r.stop(&AgentError{Agent: r.o.Agent, Reason: j.run.Error})
	}
}

// AgentError reports that an agent cannot run prompts.
type AgentError struct {
	Agent  *Agent
	Reason string
}

// Error returns the reason of the last run.
func (e *AgentError) Error() string {
	return fmt.Sprintf("cannot evaluate with %s: %s", e.Agent.title, textx.Truncate(e.Reason, 500))
}

// Code is Invalid, as that of a failed case.
func (e *AgentError) Code() diag.Code { return diag.Invalid }

// Hint says how to try the agent alone.
func (e *AgentError) Hint() string {
	return "check that the agent works and is logged in: " + e.Agent.Command()
}

// detail describes the progress after the count of runs.
func (r *runner) detail() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf("%d passed", r.passed)
	if r.executed == 0 {
		return text
	}
	per := r.o.Now().Sub(r.began) / time.Duration(r.executed)
	left := per * time.Duration(len(r.jobs)-r.done)
	if left < time.Minute {
		return text + ", less than a minute left"
	}
	return text + fmt.Sprintf(", about %s left", textx.Count(int(left.Round(time.Minute)/time.Minute), "minute"))
}

// report returns the finished runs.
func (r *runner) report(interrupted bool) *Report {
	out := &Report{
		Agent: r.o.Agent.ID, AgentVersion: r.version, Model: r.model, Started: r.began.UTC(),
		Duration: r.o.Now().Sub(r.began), Repeats: r.o.Repeats, Interrupted: interrupted, Skills: []Skill{},
	}
	for _, t := range r.targets {
		s := Skill{Name: t.Name, Dir: t.Dir, Digest: t.with.digest, Previous: t.commit, Cases: []Case{}}
		for _, j := range r.jobs {
			if j.target != t || j.run == nil {
				continue
			}
			c := j.newCase()
			i := slices.IndexFunc(s.Cases, func(known Case) bool { return known.ID == c.ID })
			if i < 0 {
				i = len(s.Cases)
				s.Cases = append(s.Cases, c)
			}
			s.Cases[i].Runs = append(s.Cases[i].Runs, *j.run)
		}
		for i := range s.Cases {
			slices.SortFunc(s.Cases[i].Runs, func(a, b Run) int {
				order := []Variant{With, Without, Previous}
				return cmp.Or(cmp.Compare(slices.Index(order, a.Variant), slices.Index(order, b.Variant)),
					cmp.Compare(a.Number, b.Number))
			})
		}
		if len(s.Cases) > 0 {
			out.Skills = append(out.Skills, s)
		}
	}
	return out
}

// newCase returns the case of a run, without runs.
func (j *job) newCase() Case {
	if j.task != nil {
		return Case{ID: j.task.ID, Kind: Task, File: j.task.File, Prompt: j.task.Prompt}
	}
	should := j.query.ShouldTrigger
	return Case{ID: j.query.ID, Kind: Trigger, File: j.query.File, Prompt: j.query.Prompt, ShouldTrigger: &should}
}
