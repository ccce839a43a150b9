package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/audit"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/host"
	"github.com/skillpm/skillpm/pkg/regular"
	"github.com/skillpm/skillpm/pkg/session"
	"github.com/skillpm/skillpm/pkg/task"
)

func newTask(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "task",
		Short:   "Run skills as isolated tasks",
		GroupID: "serve",
		Long: `Run skills as tasks: apart from whoever asks, with the skill's text as their only
input. A skill whose frontmatter says context: fork becomes a task when it is
loaded. What runs tasks is a command in config.yaml, one for each type of agent
that skills ask for; general is the type of those that ask for none:

  runners:
    general:
      command: [claude, -p]       gets the task's text on its standard input
      limit: 20m                  default 10m
      env: [ANTHROPIC_API_KEY]    passed on besides the clean environment
      notify: {file: tasks.jsonl} gets a line of JSON when a task has ended

The command works in an empty directory of its own and has nothing of a session or
a conversation. What it prints is the result. A task is queued, running, succeeded,
failed, timed-out, cancelled, or lost: its runner was killed. Tasks are kept for 30
days after their end.`,
		Example: `  skillpm task submit rollback checkout
  skillpm task list
  skillpm task wait 20261122-162300-123-k3f9q2m7xwabc`,
		Args: cobra.ArbitraryArgs,
		RunE: unknownCommand,
	}
	for _, c := range []*cobra.Command{newTaskSubmit(a), newTaskList(a), newTaskShow(a), newTaskWait(a), newTaskCancel(a), newTaskRunOne(a)} {
		c.Args = usageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// submitFlags are the flags of task submit.
type submitFlags struct {
	body, runner, model string
	wait                bool
}

func newTaskSubmit(a *app) *cobra.Command {
	var o submitFlags
	var flags *runtimeFlags
	cmd := &cobra.Command{
		Use:   "submit [SKILL [ARGS...]]",
		Short: "Run a skill, or a text, as a task",
		Long: `Have a task run and return at once, with its id. The task's text is that of SKILL
with ARGS in its placeholders, whatever its context says, or what is in the file of
--body (- for standard input). It is the user's door to skills: a skill that is not
user-invocable is refused. ARGS that begin with a hyphen stand after --.`,
		Example: `  skillpm task submit rollback checkout
  skillpm task submit rollback checkout --wait --runner reviewer -- --dry-run
  echo 'Count the words in it.' | skillpm task submit --body -`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeSkills,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.submitTask(cmd.Context(), flags, o, args)
		},
	}
	flags = a.runtimeFlags(cmd)
	f := cmd.Flags()
	_ = f.MarkHidden("session") // the flag exists, and a task is of no session
	a.shellFlag(cmd, flags)
	f.StringVar(&o.body, "body", "", "run the text in `FILE`, - for standard input")
	f.StringVar(&o.runner, "runner", "", "the `TYPE` of runner (default what the skill's agent says, or general)")
	f.StringVar(&o.model, "model", "", "tell the runner that `MODEL` is wanted")
	f.BoolVar(&o.wait, "wait", false, "wait for its end, as skillpm task wait does")
	a.completeFlag(cmd, "runner", func(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		h, err := a.host(cmd.Context(), flags)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return matching(slices.Sorted(maps.Keys(h.Config().Runners)), prefix), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func (a *app) submitTask(ctx context.Context, flags *runtimeFlags, o submitFlags, args []string) error {
	if (len(args) == 0) == (o.body == "") {
		return diag.Errorf(diag.Usage, "a task is a SKILL or a --body").WithHint("skillpm task submit SKILL [ARGS...], or skillpm task submit --body FILE")
	}
	flags.noSession = true // a task is of none
	h, err := a.host(ctx, flags)
	if err != nil {
		return err
	}
	t, err := a.submitted(ctx, h, o, args)
	switch {
	case err != nil:
		return err
	case o.wait:
		return a.waitTask(ctx, h.Tasks(), t.ID)
	case a.json:
		return a.printJSON(t)
	}
	fmt.Fprintln(a.Stdout, t.ID)
	a.waits(t.ID)
	return nil
}

// waits says how to get the result of a task.
func (a *app) waits(id string) { a.note("skillpm task wait %s waits for its result", id) }

// submitted hands a skill or a text to a runner.
func (a *app) submitted(ctx context.Context, h *host.Host, o submitFlags, args []string) (*task.Task, error) {
	if o.body != "" {
		return a.submitText(ctx, h, o)
	}
	done, err := h.Load(ctx, args[0], session.Activate{
		Arguments: joinArguments(args[1:]), Trigger: session.User, Task: true, Agent: o.runner, Model: o.model,
	})
	if err != nil {
		return nil, err
	}
	a.warnings(done.Warnings)
	return h.Tasks().Find(ctx, done.TaskID)
}

// submitText hands a text to a runner.
func (a *app) submitText(ctx context.Context, h *host.Host, o submitFlags) (*task.Task, error) {
	body, err := a.readBody(o.body)
	if err != nil {
		return nil, err
	}
	t, err := h.Tasks().Submit(ctx, task.Request{Project: h.Project(), Agent: o.runner, Model: o.model, Body: body})
	if err != nil {
		return nil, err
	}
	err = h.Audit().Write(audit.Record{
		Action: audit.Task, Result: audit.OK, Project: t.Project, Profile: h.Profile().ID, Trigger: string(session.User), Agent: t.Agent, Task: t.ID,
	})
	if err != nil {
		a.warn("%v", err)
	}
	return t, nil
}

func (a *app) readBody(file string) (string, error) {
	if file == "-" {
		data, err := io.ReadAll(io.LimitReader(a.Stdin, task.MaxBody+1))
		return string(data), err
	}
	data, err := regular.ReadFile(a.abs(file), task.MaxBody)
	if errors.Is(err, os.ErrNotExist) {
		return "", diag.Errorf(diag.NotFound, "file %s does not exist", file)
	}
	return string(data), err
}

// tasks returns the tasks of this user, where no skill is asked for.
func (a *app) tasks() (*task.Store, error) {
	_, paths, err := a.places()
	if err != nil {
		return nil, err
	}
	log := audit.Open(filepath.Join(paths.State, "audit", audit.Name), audit.Options{Now: a.Now})
	return task.Open(filepath.Join(paths.State, "tasks"), task.Options{Now: a.Now, Audit: log}), nil
}

// completeTasks completes the ids of tasks.
func (a *app) completeTasks(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	s, err := a.tasks()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, t := range s.Look() {
		if !slices.Contains(args, t.ID) {
			names = append(names, cobra.CompletionWithDesc(t.ID, strings.TrimSpace(string(t.State)+" "+flat(t.Skill))))
		}
	}
	return matching(names, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func newTaskList(a *app) *cobra.Command {
	var states []string
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List tasks, the newest first",
		Long:    "List the tasks of this user, the newest first: those that run, and those that ended\nin the last 30 days.",
		Example: "  skillpm task list\n  skillpm task list --state running,queued\n  skillpm task list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range states {
				if !slices.Contains(task.States(), task.State(s)) {
					return diag.Errorf(diag.Usage, "state %q is not known", s).WithHint("the states are %s", list(stateNames()))
				}
			}
			s, err := a.tasks()
			if err != nil {
				return err
			}
			tasks, problems, err := s.List(cmd.Context())
			if err != nil {
				return err
			}
			for _, p := range problems {
				a.warn("%v", p)
			}
			if len(states) > 0 {
				tasks = slices.DeleteFunc(tasks, func(t *task.Task) bool { return !slices.Contains(states, string(t.State)) })
			}
			return a.printTasks(tasks)
		},
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "only those in a `STATE`: "+list(stateNames()))
	a.completeFlag(cmd, "state", func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return matching(stateNames(), prefix), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func stateNames() []string {
	var names []string
	for _, s := range task.States() {
		names = append(names, string(s))
	}
	return names
}

func (a *app) printTasks(tasks []*task.Task) error {
	if a.json {
		return a.printJSON(map[string]any{"tasks": append([]*task.Task{}, tasks...)})
	}
	if len(tasks) == 0 {
		a.note("there are no tasks; skillpm task submit starts one")
		return nil
	}
	rows := [][]string{{"TASK", "STATE", "SKILL", "RUNNER", "AGE", "TIME"}}
	now := a.Now()
	for _, t := range tasks {
		took := ""
		if t.Started != nil {
			took = span(endOf(t, now).Sub(*t.Started))
		}
		rows = append(rows, []string{t.ID, string(t.State), cmp.Or(t.Skill, "-"), t.Agent, span(now.Sub(t.Created)), took})
	}
	return table(a.Stdout, rows)
}

// endOf returns when a task ended, or now.
func endOf(t *task.Task, now time.Time) time.Time {
	if t.Ended != nil {
		return *t.Ended
	}
	return now
}

// span writes a duration in its largest unit: 90s is 1m.
func span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

func newTaskShow(a *app) *cobra.Command {
	var output, errs, input bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a task and its result",
		Long: `Show how a task stands, and its result once it has ended. With --output, --errors or
--input only that is printed, as it is.`,
		Example:           "  skillpm task show 20261122-162300-123-k3f9q2m7xwabc\n  skillpm task show --output 20261122-162300-123-k3f9q2m7xwabc > review.md",
		Args:              need(1, 1, "the ID of a task"),
		ValidArgsFunction: a.completeOneTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output && errs || errs && input || input && output {
				return diag.Errorf(diag.Usage, "--output, --errors and --input are three parts, and one is printed").WithHint("skillpm task show --json %s has the first two", args[0])
			}
			s, err := a.tasks()
			if err != nil {
				return err
			}
			t, err := s.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			for _, part := range []struct {
				wanted bool
				read   func(string) ([]byte, error)
			}{{output, s.Output}, {errs, s.Errors}, {input, s.Input}} {
				if part.wanted {
					return a.printText(part.read(t.ID))
				}
			}
			return a.printTask(s, t)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&output, "output", false, "print only what it printed")
	f.BoolVar(&errs, "errors", false, "print only what it said on standard error")
	f.BoolVar(&input, "input", false, "print only what it was told")
	return cmd
}

func (a *app) completeOneTask(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeTasks(cmd, args, prefix)
}

// printText prints a text of a task as it is, but for what could steer a terminal.
func (a *app) printText(data []byte, err error) error {
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]string{"text": string(data)})
	}
	if terminal(a.Stdout) {
		data = []byte(printable(string(data)))
	}
	_, err = a.Stdout.Write(data)
	return err
}

// taskDocument is a task with what it printed, as --json has it.
type taskDocument struct {
	*task.Task
	Output string `json:"output"`
	Errors string `json:"errors"`
}

func document(s *task.Store, t *task.Task) (d taskDocument, err error) {
	out, err := s.Output(t.ID)
	if err != nil {
		return d, err
	}
	errs, err := s.Errors(t.ID)
	return taskDocument{t, string(out), string(errs)}, err
}

func (a *app) printTask(s *task.Store, t *task.Task) error {
	d, err := document(s, t)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(d)
	}
	now := a.Now()
	rows := [][]string{{"task", t.ID}, {"state", string(t.State)}}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	add("reason", t.Reason)
	add("skill", t.Skill)
	add("pack", t.Pack)
	add("runner", t.Agent)
	add("model", t.Model)
	add("project", t.Project)
	add("created", t.Created.Format(time.RFC3339)+", "+span(now.Sub(t.Created))+" ago")
	if t.Started != nil {
		add("time", endOf(t, now).Sub(*t.Started).Round(time.Millisecond).String())
	}
	if t.Truncated {
		add("output", fmt.Sprintf("%s, of which the beginning and the end were kept", bytesText(t.OutputBytes)))
	}
	add("directory", s.Dir(t.ID))
	if err := table(a.Stdout, rows); err != nil {
		return err
	}
	for _, text := range []string{d.Output, d.Errors} {
		if text != "" {
			fmt.Fprintf(a.Stdout, "\n%s\n", strings.TrimSuffix(printable(text), "\n"))
		}
	}
	return nil
}

func newTaskWait(a *app) *cobra.Command {
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait for a task and print its result",
		Long: `Wait until a task has ended, and print its result. The exit code is 0 if it
succeeded, and 1 if it did not or still runs when --timeout is over.`,
		Example:           "  skillpm task wait 20261122-162300-123-k3f9q2m7xwabc\n  skillpm task wait --timeout 5m --json 20261122-162300-123-k3f9q2m7xwabc",
		Args:              need(1, 1, "the ID of a task"),
		ValidArgsFunction: a.completeOneTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.tasks()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if limit < 0 {
				return diag.Errorf(diag.Usage, "--timeout %v is over already", limit)
			}
			if limit > 0 {
				within, stop := context.WithTimeout(ctx, limit)
				defer stop()
				ctx = within
			}
			err = a.waitTask(ctx, s, args[0])
			if errors.Is(err, context.DeadlineExceeded) {
				return diag.Errorf(diag.Internal, "task %s has not ended after %v", args[0], limit).WithHint("it goes on: wait again, or skillpm task cancel %s", args[0])
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&limit, "timeout", 0, "wait at most so long, as `30s` or 5m (default for ever)")
	return cmd
}

func (a *app) waitTask(ctx context.Context, s *task.Store, id string) error {
	t, err := s.Wait(ctx, id)
	if err != nil {
		return err
	}
	d, err := document(s, t)
	if err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(d); err != nil {
			return err
		}
		if t.State != task.Succeeded {
			return reported{diag.Internal}
		}
		return nil
	}
	if err := a.printText([]byte(d.Output), nil); err != nil {
		return err
	}
	if t.State == task.Succeeded {
		return nil
	}
	fmt.Fprint(a.Stderr, printable(d.Errors))
	return diag.Errorf(diag.Internal, "task %s did not succeed: %s", t.ID, t.Reason).WithHint("skillpm task show %s", t.ID)
}

func newTaskCancel(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID...",
		Short: "End tasks",
		Long: `End tasks with all processes that they started, and wait until they have ended. A
task that has ended stays as it is. One that cannot be ended does not keep the
others from being.`,
		Example:           "  skillpm task cancel 20261122-162300-123-k3f9q2m7xwabc\n  skillpm task cancel --json 20261122-162300-123-k3f9q2m7xwabc",
		Args:              need(1, 1000, "the ID of a task"),
		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.tasks()
			if err != nil {
				return err
			}
			done := []*task.Task{}
			var failed []error
			for _, id := range args {
				t, err := s.Cancel(cmd.Context(), id)
				if err != nil {
					failed = append(failed, err)
					continue
				}
				done = append(done, t)
				switch {
				case a.json || a.quiet:
				case t.State == task.Cancelled:
					fmt.Fprintf(a.Stdout, "%s is cancelled\n", t.ID)
				default:
					fmt.Fprintf(a.Stdout, "%s has ended before: %s\n", t.ID, t.State)
				}
			}
			return a.endCancel(done, failed)
		},
	}
}

// endCancel prints what became of all tasks that were to be cancelled, and returns the error of those that were not.
func (a *app) endCancel(done []*task.Task, failed []error) error {
	if !a.json {
		return errors.Join(failed...)
	}
	document := map[string]any{"tasks": done}
	var messages []string
	for _, err := range failed {
		messages = append(messages, err.Error())
	}
	if len(messages) > 0 {
		document["errors"] = messages
	}
	if err := a.printJSON(document); err != nil || len(failed) == 0 {
		return err
	}
	return reported{diag.CodeOf(failed[0])}
}

// taskRunner returns how the process is started that runs a task: this program, also where PATH has another one.
func taskRunner() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return append([]string{self}, task.RunOne()...)
}

// newTaskRunOne returns the command of the process that runs a task.
func newTaskRunOne(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    task.RunOne()[1] + " DIR",
		Short:  "Run a task that was submitted",
		Hidden: true,
		Args:   need(1, 1, "the directory of a task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			log := (*audit.Log)(nil)
			if _, paths, err := a.places(); err == nil {
				log = audit.Open(filepath.Join(paths.State, "audit", audit.Name), audit.Options{Now: a.Now})
			}
			dir, o := a.abs(args[0]), task.Options{Now: a.Now, Audit: log}
			if a.Environ != nil {
				o.Env = a.Environ()
			}
			return task.Open(filepath.Dir(dir), o).Run(cmd.Context(), filepath.Base(dir))
		},
	}
}
