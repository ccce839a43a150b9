package serve

import (
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
		Use:     "load SKILL [ARGS...]",
		Short:   "Activate a skill and print its instructions",
		GroupID: "serve",
		Long: `Activate a skill: print its instructions with the arguments in their places, as
the profile's host gives them to its model. SKILL is the name in force, or
exactly skill@owner/name.

One argument is passed on as it is; several are quoted where that is needed, so
that the skill gets the same ones. Those that begin with a hyphen stand after --.

With --session the skill stays active in that session until skillpm deactivate:
it is not activated again meanwhile, a skill inside itself is refused with the
cycle, at most five are inside each other (skills.max-depth), and skillpm session
allow answers by what all of them allow. Without a session nothing is kept.

Who asks matters: a skill with disable-model-invocation: true is only for users,
one with user-invocable: false only for the model. The skill's pre hook runs
first; where it fails, the skill is not activated.

A skill with context: fork is handed to a task, whose id is printed; --inline
activates it here. Commands in the text, as !` + "`git log`" + `, are run only under
--allow-shell or skills.dynamic-shell, and only if the tools in force allow it.

With --json the result, and an error too, is what the profile's host gives as
structured data.`,
		Example: `  skillpm load deploy staging
  skillpm load deploy@acme/deploy --session 7f3a -- staging --dry-run
  skillpm load --trigger user --profile claude-code kubectl-basics 'why is shop pending'
  skillpm load --json --profile pegasus deploy`,
		Args: console.Need(1, manyArguments, "a SKILL and its arguments"),
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
			switch {
			case activation.TaskID != "":
				a.waits(activation.TaskID)
			case activation.Command != "":
				a.Note("it has a command: skillpm run %s executes it", args[0])
			}
			return a.Answer(h, activation.Result())
		},
		ValidArgsFunction: a.CompleteSkills,
	}
	f = a.RuntimeFlags(cmd)
	cmd.Flags().StringVar(&trigger, "trigger", string(session.Model), "who asks for the skill: `user|model`")
	cmd.Flags().BoolVar(&o.Inline, "inline", false, "activate a skill here that asks for a task of its own")
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
		"run the commands that stand in a skill's text, in backquotes after a !")
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
	return diag.Errorf(diag.Usage, "--trigger %q is not known", t).WithHint("use user or model")
}
