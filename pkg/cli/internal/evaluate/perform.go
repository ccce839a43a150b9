package evaluate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/run"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

const (
	maxOutput    = 4 << 10 // bytes of the final message in a report
	maxMessage   = 1 << 20 // bytes of the output of a command
	grace        = 5 * time.Second
	queryLimit   = 2 * time.Minute // for a trigger query: an agent activates skills before it works on a task
	versionLimit = 30 * time.Second
)

// errTriggered ends a run of a trigger query as soon as its result is known.
var errTriggered = errors.New("the skill was activated")

// perform runs the prompt of a job in a new project, and grades the result. The error is why the agent could not run the
// prompt.
func (r *runner) perform(ctx context.Context, j *job, parent string) (*Run, error) {
	dir, err := os.MkdirTemp(parent, "run-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the directory is temporary
	project := filepath.Join(dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		return nil, err
	}
	installed, err := r.fill(j, project)
	if err != nil {
		return nil, err
	}
	var prompt string
	var until func(*transcript) bool
	if j.task != nil {
		prompt = j.task.Prompt
	} else {
		prompt = j.query.Prompt
		until = func(t *transcript) bool { return slices.Contains(t.activated, j.target.Name) }
	}
	began := r.o.Now()
	t, err := r.prompt(ctx, dir, project, prompt, until)
	if err != nil {
		return nil, err
	}
	result := t.run()
	result.Duration = r.o.Now().Sub(began)
	r.recordModel(t.model)
	switch {
	case t.timedOut && (j.query == nil || j.query.ShouldTrigger):
		result.Outcome = TimedOut
		return result, nil
	case t.failure != "":
		return nil, errors.New(t.failure)
	case j.query != nil:
		result.Outcome = Failed
		if until(t) == j.query.ShouldTrigger {
			result.Outcome = Passed
		}
		return result, nil
	}
	err = uninstall(project, installed)
	if err == nil {
		err = r.decide(ctx, j, result, dir, project, t.output)
	}
	if err != nil { // the agent ran
		result.Outcome, result.Error = Errored, diag.TextOf(err)
	}
	return result, nil
}

// fill creates the project of a run. It returns the directory of the installed skill in the project, or "".
func (r *runner) fill(j *job, project string) (installed string, err error) {
	if j.task != nil {
		if err := j.target.with.put(j.task, project); err != nil {
			return "", err
		}
	}
	s := j.snapshot()
	if s == nil {
		return "", nil
	}
	installed = path.Join(r.o.Agent.skills, j.target.Name)
	return installed, s.install(filepath.Join(project, filepath.FromSlash(installed)))
}

// uninstall removes the skill from a project, so that graders and the judge do not take its files for the result. The
// agent may have replaced directories by links, which are not followed out of the project.
func uninstall(project, installed string) error {
	if installed == "" {
		return nil
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(installed); err != nil {
		return err
	}
	for dir := path.Dir(installed); dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) {
	}
	return nil
}

// snapshot returns the skill of a run, nil for none.
func (j *job) snapshot() *snapshot {
	switch j.variant {
	case With:
		return j.target.with
	case Previous:
		return j.target.previous
	case Without:
	}
	return nil
}

// recordModel records the model of a run.
func (r *runner) recordModel(model string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.model == "" {
		r.model = model
	}
}

// decide grades a finished run. A failed grade decides; a grader that could not decide makes the run an error
// otherwise.
func (r *runner) decide(ctx context.Context, j *job, result *Run, dir, project, output string) (err error) {
	graders := gradersOf(j.task)
	if result.Grades, err = r.grade(ctx, j, graders, project, output); err != nil {
		return err
	}
	judged, usage, err := r.judge(ctx, j, graders, dir, project, output)
	if err != nil {
		return err
	}
	result.Grades, result.Judge = append(result.Grades, judged...), usage
	result.Outcome = Passed
	for _, g := range result.Grades {
		if g.Error != "" && result.Outcome == Passed {
			result.Outcome, result.Error = Errored, g.Error
		}
		if g.Error == "" && !g.Passed {
			result.Outcome, result.Error = Failed, ""
			break
		}
	}
	return nil
}

// run returns the facts about a run that its transcript has.
func (t *transcript) run() *Run {
	return &Run{
		Activated: t.activated, ToolCalls: t.toolCalls, Denials: t.denials, Usage: t.usage(),
		Output: textx.Truncate(t.output, maxOutput),
	}
}

func (t *transcript) usage() Usage {
	return Usage{InputTokens: t.input, OutputTokens: t.generated, CostUSD: t.cost}
}

// prompt runs the agent with a prompt in a directory, until it ends or until, which only trigger queries have, returns
// true. The directory dir, which is the run's, gets a home directory if the agent needs one.
func (r *runner) prompt(ctx context.Context, dir, project, prompt string, until func(*transcript) bool) (*transcript,
	error,
) {
	home, err := os.MkdirTemp(dir, "home-")
	if err != nil {
		return nil, err
	}
	changed, more := map[string]string{}, []string(nil)
	if h := r.o.Agent.headless; h != nil {
		env, args, err := h.fill(home, r.o.Home, r.o.Getenv)
		if err != nil {
			return nil, err
		}
		maps.Copy(changed, env)
		more = args
	}
	argv, stdin := r.o.Agent.commandLine(prompt)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t := &transcript{}
	c := run.Command{
		Argv: append(argv, more...), Dir: project, Stdin: strings.NewReader(stdin), Env: r.environment(changed),
		Limit: r.limit(until != nil), Grace: grace, MaxOutput: maxMessage, Helper: r.o.Helper,
	}
	var lines *lineWriter
	if h := r.o.Agent.headless; h != nil {
		lines = &lineWriter{each: func(line []byte) {
			h.event(t, line)
			if until != nil && until(t) {
				stop(errTriggered)
			}
		}}
		c.Stdout, c.MaxOutput = lines, 64<<10
	}
	res, err := run.Run(ctx, c)
	if lines != nil {
		lines.close()
	}
	switch {
	case errors.Is(context.Cause(ctx), errTriggered):
		return t, nil
	case err != nil:
		return nil, err
	}
	t.end(res, lines == nil)
	if h := r.o.Agent.headless; h != nil && h.finish != nil {
		h.finish(t, home)
	}
	return t, nil
}

// limit returns how long a run may take. That of a trigger query is shorter.
func (r *runner) limit(query bool) time.Duration {
	if query {
		return min(r.o.Timeout, queryLimit)
	}
	return r.o.Timeout
}

// end completes a transcript with how the command ended. Text is set if the output is the final message.
func (t *transcript) end(res *run.Result, text bool) {
	if text {
		t.output = strings.TrimSpace(string(res.Stdout))
	}
	t.timedOut = res.TimedOut
	if t.failure == "" && res.ExitCode != 0 && !res.TimedOut {
		t.failure = fmt.Sprintf("it exited with code %d", res.ExitCode)
		if text := strings.TrimSpace(string(res.Stderr)); text != "" {
			t.failure += ": " + text[strings.LastIndexByte(text, '\n')+1:]
		}
	}
}

// environment returns the variables of the agent: those of the user, without those of an agent that runs skillpm.
func (r *runner) environment(changed map[string]string) []string {
	env := slices.DeleteFunc(r.o.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, replaced := changed[name]
		return replaced || name == "CLAUDECODE" || strings.HasPrefix(name, "SKILLPM_")
	})
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		env = append(env, name+"="+changed[name])
	}
	return env
}

// version returns the version that the agent prints, "" for a command.
func (a *Agent) version(ctx context.Context, o Options) (string, error) {
	if a.headless == nil {
		return "", nil
	}
	res, err := run.Run(ctx, run.Command{
		Argv: []string{a.argv[0], "--version"}, Env: o.Environ(), Limit: versionLimit, Helper: o.Helper,
	})
	switch {
	case err != nil:
		return "", err
	case res.TimedOut || res.ExitCode != 0:
		return "", &AgentError{Agent: a, Reason: "it does not print its version"}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(res.Stdout)), "\n")
	if number := versionNumber.FindString(first); number != "" {
		first = number
	}
	return textx.Truncate(strings.TrimSpace(first), 80), nil
}

// versionNumber matches the version in what an agent prints, such as "codex-cli 0.169.0".
var versionNumber = regexp.MustCompile(`\d+\.\d+[\w.+-]*`)
