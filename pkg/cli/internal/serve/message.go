package serve

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

func newMessage(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	var o session.Activate
	cmd := &cobra.Command{
		Use:   "message TEXT",
		Short: "Expand a user's /command for the model",
		Long: `TEXT is the message of a user. If TEXT begins with / and the name of a skill, the output
is the instructions of the skill, in the form that the profile's agent sends to its model.
The rest of TEXT becomes the arguments. skillpm rejects a skill with
user-invocable: false.

The command prints other messages unchanged, including the agent's own commands, such as
/help. If TEXT is -, the command reads standard input.

A skill with context: fork becomes a task. With --inline, skillpm activates the skill
instead. With
--json, the output is {kind, skill, text, taskId}. The kind is message, skill, or task.`,
		Example: `  skillpm message '/deploy staging'
  skillpm message --json --session 7f3a '/kubectl-basics why'
  printf '%s' "$PROMPT" | skillpm message -`,
		Args: console.Need(1, 1, "one TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.messageText(args[0])
			if err != nil {
				return err
			}
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			o.Shell, o.Begin = f.Shell, a.Loading(h)
			m, err := h.Message(cmd.Context(), text, o)
			if err != nil {
				return err
			}
			return a.printMessage(m)
		},
		ValidArgsFunction: a.completeMessage,
	}
	f = a.RuntimeFlags(cmd)
	cmd.Flags().BoolVar(&o.Inline, "inline", false, "activate a skill with context: fork instead of starting a task")
	a.shellFlag(cmd, f)
	return cmd
}

// maxMessage limits a message from standard input, in bytes.
const maxMessage = 16 << 20

func (a *app) messageText(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	data, err := io.ReadAll(io.LimitReader(a.Stdin, maxMessage+1))
	if err == nil && len(data) > maxMessage {
		err = diag.Errorf(diag.Usage, "the message on standard input is larger than %d bytes", maxMessage)
	}
	return string(data), err
}

func (a *app) printMessage(m *runtime.Message) error {
	if m.Activation != nil {
		a.Warnings(m.Activation.Warnings)
	}
	if m.TaskID != "" {
		a.waits(m.TaskID)
	}
	if a.JSON {
		return a.PrintJSON(messageDocument{m.Kind, m.Skill, m.Text, m.TaskID})
	}
	a.ForModel(m.Text)
	return nil
}

// completeMessage completes /name of the skills that users may activate.
func (a *app) completeMessage(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c := a.CompletionCatalog(cmd)
	if c == nil || len(args) > 0 || !strings.HasPrefix(prefix, "/") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, k := range c.UserInvocable() {
		about := console.Brief(k.Description)
		if k.ArgumentHint != "" {
			about = console.Brief(k.ArgumentHint + " " + k.Description)
		}
		names = append(names, cobra.CompletionWithDesc("/"+k.Name, about))
	}
	return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}
