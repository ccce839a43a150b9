package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/runtime/task"
)

func newTaskShow(a *app) *cobra.Command {
	var output, errs, input bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a task and its result",
		Long: `The output has the state of the task, and the result if the task has ended. --stdout,
--stderr, and --input print only the standard output, standard error, or input.`,
		Example: `  skillpm task show 20261122-162300-123-k3f9q2m7xwabc
  skillpm task show --stdout 20261122-162300-123-k3f9q2m7xwabc > review.md
  skillpm task show --json 20261122-162300-123-k3f9q2m7xwabc`,
		Args:              console.Need(1, 1, "the ID of a task"),
		ValidArgsFunction: a.completeOneTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output && errs || errs && input || input && output {
				return diag.Errorf(diag.Usage, "--stdout, --stderr, and --input cannot be used together").
					WithHint("print output and errors with: skillpm task show --json %s", args[0])
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
				enabled bool
				read    func(string) ([]byte, error)
			}{{output, s.Output}, {errs, s.Errors}, {input, s.Input}} {
				if part.enabled {
					return a.printText(part.read(t.ID))
				}
			}
			return a.printTask(s, t)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&output, "stdout", false, "print only the standard output of the task")
	f.BoolVar(&errs, "stderr", false, "print only the standard error of the task")
	f.BoolVar(&input, "input", false, "print only the input of the task")
	return cmd
}

func (a *app) completeOneTask(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeTasks(cmd, args, prefix)
}

// printText prints the output of a task.
func (a *app) printText(data []byte, err error) error {
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(textDocument{string(data)})
	}
	_, err = a.Content(a.Stdout).Write(data)
	return err
}

// taskDocument is a task with its output, in JSON.
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
	if a.JSON {
		return a.PrintJSON(d)
	}
	now := a.Now()
	rows := [][]string{{"task", t.ID}, {"state", stateText(t.State)}}
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
	add("created", t.Created.Format(time.RFC3339)+", "+console.Span(now.Sub(t.Created))+" ago")
	if t.Started != nil {
		add("time", endOf(t, now).Sub(*t.Started).Round(time.Millisecond).String())
	}
	if t.Truncated {
		add("output", fmt.Sprintf("%s, of which skillpm kept the beginning and the end", console.BytesText(t.OutputBytes)))
	}
	add("directory", s.Dir(t.ID))
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	for _, text := range []string{d.Output, d.Errors} {
		if text != "" {
			fmt.Fprintf(a.Stdout, "\n%s\n", strings.TrimSuffix(text, "\n"))
		}
	}
	return nil
}

func newTaskWait(a *app) *cobra.Command {
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait for a task and print its result",
		Long: `The command prints the result when the task has ended. Exit code 1 means that the task
failed, or that --timeout expired.`,
		Example: `  skillpm task wait 20261122-162300-123-k3f9q2m7xwabc
  skillpm task wait --timeout 5m --json 20261122-162300-123-k3f9q2m7xwabc
  skillpm task wait "$(skillpm task submit -q outline)"`,
		Args:              console.Need(1, 1, "the ID of a task"),
		ValidArgsFunction: a.completeOneTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.tasks()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if limit < 0 {
				return diag.Errorf(diag.Usage, "--timeout must not be negative: %v", limit).
					WithHint("use a duration such as 5m")
			}
			if limit > 0 {
				within, stop := context.WithTimeout(ctx, limit)
				defer stop()
				ctx = within
			}
			err = a.waitTask(ctx, s, args[0])
			if errors.Is(err, context.DeadlineExceeded) {
				return diag.Errorf(diag.Internal, "task %s has not ended after %v", args[0], limit).
					WithHint("wait again for the running task, or cancel the task with: skillpm task cancel %s", args[0])
			}
			return err
		},
	}
	cmd.Flags().DurationVar(&limit, "timeout", 0, "wait at most `DURATION`, such as 30s or 5m (default: no limit)")
	return cmd
}

func (a *app) waitTask(ctx context.Context, s *task.Store, id string) error {
	waiting := activity.Begin(ctx, &activity.Wait{Source: "task " + id})
	t, err := s.Wait(ctx, id)
	waiting.End()
	if err != nil {
		return err
	}
	d, err := document(s, t)
	if err != nil {
		return err
	}
	if a.JSON {
		if err := a.PrintJSON(d); err != nil {
			return err
		}
		if t.State != task.Succeeded {
			return console.Reported{Exit: diag.Internal}
		}
		return nil
	}
	if err := a.printText([]byte(d.Output), nil); err != nil {
		return err
	}
	if t.State == task.Succeeded {
		return nil
	}
	fmt.Fprint(a.Messages(), d.Errors)
	return diag.Errorf(diag.Internal, "task %s failed: %s", t.ID, t.Reason).
		WithHint("show the task with: skillpm task show %s", t.ID)
}
