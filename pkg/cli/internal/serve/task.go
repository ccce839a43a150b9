package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/task"
)

func newTask(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "task",
		Short: "Run skills as isolated tasks",
		Long: `A task is a skill that runs apart from the conversation, with the skill's text as the only
input. "skillpm load" turns a skill with context: fork into a task. Runners execute tasks.
A runner is a command in config.yaml for one type of agent. The key "agent" in a skill's
frontmatter names the type. The runner general is for skills that do not name a type:

  runners:
    general:
      command: [claude, -p]       gets the task's text on standard input
      limit: 20m                  default 10m
      env: [ANTHROPIC_API_KEY]    added to the clean environment
      notify: {file: tasks.jsonl} gets a JSON line when a task ends

The command runs in an empty directory, in a separate session, in which the tool
restrictions of the skill apply. Its output is the result of the task. A task is queued, running, succeeded, failed, timed-out, canceled, or lost, which
means that the runner was killed. skillpm keeps tasks for 30 days.`,
		Example: `  skillpm task submit rollback checkout
  skillpm task list
  skillpm task wait 20261122-162300-123-k3f9q2m7xwabc`,
		Args: cobra.ArbitraryArgs,
		RunE: console.UnknownCommand,
	}
	for _, c := range []*cobra.Command{
		newTaskSubmit(a), newTaskList(a), newTaskShow(a), newTaskWait(a),
		newTaskCancel(a), newTaskRunOne(a),
	} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// tasks opens the tasks of this user, for commands without a skill.
func (a *app) tasks() (*task.Store, error) {
	env, err := a.Env()
	if err != nil {
		return nil, err
	}
	o := task.Options{Now: a.Now, Audit: a.taskLog(env), EndSession: a.endTaskSession(env)}
	return task.Open(filepath.Join(env.Paths.State, "tasks"), o), nil
}

// taskLog returns a function that returns the audit log for tasks of a project.
func (a *app) taskLog(env environ.Environment) func(project string) *audit.Log {
	return func(project string) *audit.Log { return a.AuditLog(env, project) }
}

// endTaskSession returns a function that ends the session of a task.
func (a *app) endTaskSession(env environ.Environment) func(ctx context.Context, id, project string) {
	return func(ctx context.Context, id, project string) {
		where := env
		where.Dir = cmp.Or(project, env.Dir)
		h, err := runtime.New(ctx, console.HostOptions(&console.RuntimeFlags{Session: id}, where))
		if err == nil {
			_, err = h.Session().End(ctx)
		}
		if err != nil && diag.CodeOf(err) != diag.NotFound {
			a.Warnings([]string{err.Error()})
		}
	}
}

// completeTasks completes task ids.
func (a *app) completeTasks(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	s, err := a.tasks()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, t := range s.Current() {
		if !slices.Contains(args, t.ID) {
			names = append(names, cobra.CompletionWithDesc(t.ID,
				strings.TrimSpace(stateText(t.State)+" "+console.Flat(t.Skill))))
		}
	}
	return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func newTaskList(a *app) *cobra.Command {
	var states []string
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List tasks",
		Long:    "The list has your tasks of the last 30 days, the newest first.",
		Example: `  skillpm task list
  skillpm task list --state running,queued
  skillpm task list --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for i, s := range states {
				if s == canceled {
					states[i] = string(task.Cancelled)
				} else if !slices.Contains(task.States(), task.State(s)) {
					return diag.Errorf(diag.Usage, "unknown --state %q", s).
						WithHint("use %s", textx.OneOf(stateNames()))
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
				a.Warn("%v", p)
			}
			if len(states) > 0 {
				tasks = slices.DeleteFunc(tasks, func(t *task.Task) bool {
					return !slices.Contains(states, string(t.State))
				})
			}
			return a.printTasks(tasks)
		},
	}
	cmd.Flags().StringSliceVar(&states, "state", nil, "list only tasks with `STATE`: "+textx.Or(stateNames()))
	a.CompleteFlag(cmd, "state", func(_ *cobra.Command, _ []string, prefix string) ([]string,
		cobra.ShellCompDirective,
	) {
		return console.Matching(stateNames(), prefix), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func stateNames() []string {
	var names []string
	for _, s := range task.States() {
		names = append(names, stateText(s))
	}
	return names
}

// canceled is the text of [task.Cancelled] for users. Files and JSON keep the spelling of MCP.
const canceled = "canceled"

// stateText returns the text of a state for users.
func stateText(s task.State) string {
	if s == task.Cancelled {
		return canceled
	}
	return string(s)
}

func (a *app) printTasks(tasks []*task.Task) error {
	if a.JSON {
		return a.PrintJSON(tasksDocument{Tasks: append([]*task.Task{}, tasks...)})
	}
	if len(tasks) == 0 {
		a.Note("No tasks. Start one with: skillpm task submit SKILL")
		return nil
	}
	rows := [][]string{{"TASK", "STATE", "SKILL", "RUNNER", "AGE", "TIME"}}
	now := a.Now()
	for _, t := range tasks {
		took := ""
		if t.Started != nil {
			took = console.Span(endOf(t, now).Sub(*t.Started))
		}
		rows = append(rows, []string{
			t.ID, stateText(t.State), cmp.Or(t.Skill, "-"), t.Agent,
			console.Span(now.Sub(t.Created)), took,
		})
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	a.Note("%s.", textx.Count(len(tasks), "task"))
	return nil
}

// endOf returns the end of a task, or now if it runs.
func endOf(t *task.Task, now time.Time) time.Time {
	if t.Ended != nil {
		return *t.Ended
	}
	return now
}

func newTaskCancel(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID...",
		Short: "Cancel tasks",
		Long: `The command ends each task with all its processes, and waits for the end. Tasks that have
already ended do not change.`,
		Example: `  skillpm task cancel 20261122-162300-123-k3f9q2m7xwabc
  skillpm task cancel --json 20261122-162300-123-k3f9q2m7xwabc
  skillpm task cancel "$(skillpm task submit -q outline)"`,
		Args:              console.Need(1, 1000, "the ID of a task"),
		ValidArgsFunction: a.completeTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.tasks()
			if err != nil {
				return err
			}
			ended := []*task.Task{}
			var failed []error
			for _, id := range args {
				t, err := s.Cancel(cmd.Context(), id)
				if err != nil {
					failed = append(failed, err)
					continue
				}
				ended = append(ended, t)
				switch {
				case a.JSON || a.Quiet:
				case t.State == task.Cancelled:
					fmt.Fprintf(a.Stdout, "Canceled %s\n", t.ID)
				default:
					fmt.Fprintf(a.Stdout, "%s has already ended: %s\n", t.ID, stateText(t.State))
				}
			}
			return a.endCancel(ended, failed)
		},
	}
}

// endCancel prints the result for each task to cancel, and returns the errors.
func (a *app) endCancel(ended []*task.Task, failed []error) error {
	if !a.JSON {
		return errors.Join(failed...)
	}
	document := tasksDocument{Tasks: ended}
	for _, err := range failed {
		document.Errors = append(document.Errors, err.Error())
	}
	if err := a.PrintJSON(document); err != nil || len(failed) == 0 {
		return err
	}
	return console.Reported{Exit: diag.CodeOf(failed[0])}
}

// newTaskRunOne returns the hidden command of the process that runs a task.
func newTaskRunOne(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    task.RunOne()[1] + " DIR",
		Short:  "Run a submitted task",
		Hidden: true,
		Args:   console.Need(1, 1, "the directory of a task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, o := a.Abs(args[0]), task.Options{Now: a.Now, Env: a.Variables()}
			if env, err := a.Env(); err == nil {
				o.Audit = a.taskLog(env)
				o.EndSession = a.endTaskSession(env)
			}
			return task.Open(filepath.Dir(dir), o).Run(cmd.Context(), filepath.Base(dir))
		},
	}
}
