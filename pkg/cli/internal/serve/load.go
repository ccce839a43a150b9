package serve

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill"
)

func newLoad(a *app) *cobra.Command {
	var (
		f       *console.RuntimeFlags
		o       session.Activate
		trigger string
	)
	cmd := &cobra.Command{
		Use:   "load SKILL [ARGS...]",
		Short: "Activate a skill and print its instructions",
		Long: `skillpm inserts the arguments into the instructions, and prints the instructions in the
form that the profile's agent gives to its model. SKILL is a name or name@owner/name. skillpm passes a single
argument unchanged, and quotes several arguments if necessary. Put arguments that begin
with a hyphen after --.

With --session, the skill is active in the session until "skillpm deactivate", or until
another skill follows: one that the text and files of SKILL do not refer to. A skill that an
active one refers to is nested in it, up to five levels deep (skills.max-depth), and so is
one that is loaded with --parent. If SKILL is active already, the command prints the
instructions again and changes nothing. "skillpm session allow" checks the restrictions of
all active skills. Without a session, skillpm does not store the activation.

Only users can activate a skill with disable-model-invocation: true, and only the model can
activate a skill with user-invocable: false. The pre hook of the skill runs first. If the
hook fails, skillpm does not activate the skill.

A skill with context: fork becomes a task, and the command prints the task's id. --inline
activates the skill instead. Commands in the text, such as !` + "`git log`" + `, run only with
--allow-shell or skills.dynamic-shell, and only if the tool restrictions allow them.

With --json, results and errors have the structure that the profile's agent uses.`,
		Example: `  skillpm load deploy staging
  skillpm load deploy@acme/deploy --session 7f3a -- staging --dry-run
  skillpm load --trigger user kubectl-basics 'why is shop pending'
  skillpm load --json --profile pegasus deploy`,
		Args: console.Need(1, manyArguments, "a SKILL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTrigger(trigger); err != nil {
				return err
			}
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			o.Arguments, o.Trigger, o.Shell = joinArguments(args[1:]), session.Trigger(trigger), f.Shell
			o.Begin = a.Loading(h)
			activation, err := h.Load(cmd.Context(), args[0], o)
			if err != nil {
				return a.Refused(cmd, h, args[0], err)
			}
			a.Warnings(activation.Warnings)
			if len(activation.Ended) > 0 {
				a.Note("Deactivated %s.", strings.Join(activation.Ended, ", "))
			}
			switch {
			case activation.Repeated:
				a.Note("%s was active already; nothing changed.", activation.Skill.Name)
			case activation.TaskID != "":
				a.waits(activation.TaskID)
			case activation.Command != "":
				a.Note("Run the command of the skill with: skillpm run %s", args[0])
			}
			return a.Answer(h, activation.Result())
		},
		ValidArgsFunction: a.CompleteSkills,
	}
	f = a.RuntimeFlags(cmd)
	cmd.Flags().StringVar(&trigger, "trigger", string(session.Model), "activate the skill as the `user|model`")
	cmd.Flags().BoolVar(&o.Inline, "inline", false, "activate a skill with context: fork instead of starting a task")
	cmd.Flags().StringVar(&o.Parent, "parent", "", "nest the skill in this active `skill`")
	a.shellFlag(cmd, f)
	a.CompleteFlag(cmd, "trigger", cobra.FixedCompletions([]string{string(session.User), string(session.Model)},
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// manyArguments limits the number of a skill's arguments.
const manyArguments = 10_000

// shellFlag adds the flag that runs the commands in a body.
func (a *app) shellFlag(cmd *cobra.Command, f *console.RuntimeFlags) {
	cmd.Flags().BoolVar(&f.Shell, "allow-shell", false,
		"run the commands in the skill's text, such as !git log")
}

// joinArguments joins arguments so that splitting the text as a shell does returns them. A single argument is used as
// it is.
func joinArguments(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	return skill.JoinArguments(args)
}

// checkTrigger rejects an invalid trigger.
func checkTrigger(t string) error {
	if t == string(session.User) || t == string(session.Model) {
		return nil
	}
	return diag.Errorf(diag.Usage, "unknown --trigger %q", t).WithHint("use user or model")
}
