package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/runtime/task"
)

// submitFlags are the flags of "task submit".
type submitFlags struct {
	body, runner, model string
	wait                bool
}

func newTaskSubmit(a *app) *cobra.Command {
	var o submitFlags
	var flags *console.RuntimeFlags
	cmd := &cobra.Command{
		Use:   "submit [SKILL [ARGS...]]",
		Short: "Submit a task",
		Long: `The command prints the id of the new task. The input of the task is the text of SKILL with
ARGS inserted, or the content of --text (- for standard input). SKILL must be
user-invocable. Put ARGS that begin with a hyphen after --.`,
		Example: `  skillpm task submit rollback checkout
  skillpm task submit rollback checkout --wait --runner reviewer -- --dry-run
  echo 'Count the words in README.md.' | skillpm task submit --text -`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.CompleteSkills,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.submitTask(cmd.Context(), flags, o, args)
		},
	}
	flags = a.RuntimeFlags(cmd)
	f := cmd.Flags()
	_ = f.MarkHidden("session") // cannot fail: the flag exists; a task does not belong to a session
	a.shellFlag(cmd, flags)
	f.StringVar(&o.body, "text", "", "use the text in `FILE` as the input (- for standard input)")
	f.StringVar(&o.runner, "runner", "", "use the runner for agents of `TYPE` (default: the skill's agent, or general)")
	f.StringVar(&o.model, "model", "", "request `MODEL` from the runner")
	f.BoolVar(&o.wait, "wait", false, "wait for the result")
	a.CompleteFlag(cmd, "runner", func(cmd *cobra.Command, _ []string, prefix string) ([]string,
		cobra.ShellCompDirective,
	) {
		h, err := a.Host(cmd.Context(), flags)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return console.Matching(slices.Sorted(maps.Keys(h.Config().Runners)), prefix),
			cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func (a *app) submitTask(ctx context.Context, flags *console.RuntimeFlags, o submitFlags, args []string) error {
	if (len(args) == 0) == (o.body == "") {
		return diag.Errorf(diag.Usage, "skillpm task submit needs either a SKILL or --text").
			WithHint("run \"skillpm task submit SKILL [ARGS...]\" or \"skillpm task submit --text FILE\"")
	}
	flags.NoSession = true // a task does not have a session
	h, err := a.Host(ctx, flags)
	if err != nil {
		return err
	}
	t, err := a.submit(ctx, h, o, args)
	switch {
	case err != nil:
		return err
	case o.wait:
		return a.waitTask(ctx, h.Tasks(), t.ID)
	case a.JSON:
		return a.PrintJSON(t)
	}
	fmt.Fprintln(a.Stdout, t.ID)
	a.waits(t.ID)
	return nil
}

// waits prints how to get the result of a task.
func (a *app) waits(id string) { a.Note("Wait for the result with: skillpm task wait %s", id) }

// submit passes a skill or a text to a runner.
func (a *app) submit(ctx context.Context, h *runtime.Host, o submitFlags, args []string) (*task.Task, error) {
	if o.body != "" {
		return a.submitText(ctx, h, o)
	}
	activation, err := h.Load(ctx, args[0], session.Activate{
		Arguments: joinArguments(args[1:]), Trigger: session.User, Task: true, Agent: o.runner, Model: o.model,
	})
	if err != nil {
		return nil, err
	}
	a.Warnings(activation.Warnings)
	return h.Tasks().Find(ctx, activation.TaskID)
}

// submitText passes a text to a runner.
func (a *app) submitText(ctx context.Context, h *runtime.Host, o submitFlags) (*task.Task, error) {
	body, err := a.readBody(o.body)
	if err != nil {
		return nil, err
	}
	t, err := h.Tasks().Submit(ctx, task.Request{Project: h.Project(), Agent: o.runner, Model: o.model, Body: body})
	if err != nil {
		return nil, err
	}
	err = h.Audit().Write(audit.Record{
		Action: audit.Task, Result: audit.OK, Project: t.Project, Profile: h.Profile().ID,
		Trigger: string(session.User), Agent: t.Agent, Task: t.ID,
	})
	if err != nil {
		a.Warn("%v", err)
	}
	return t, nil
}

func (a *app) readBody(file string) (string, error) {
	if file == "-" {
		data, err := io.ReadAll(io.LimitReader(a.Stdin, task.MaxBody+1))
		return string(data), err
	}
	data, err := safefile.ReadFile(a.Abs(file), task.MaxBody)
	if errors.Is(err, os.ErrNotExist) {
		return "", diag.Errorf(diag.NotFound, "file %s does not exist", file)
	}
	return string(data), err
}
