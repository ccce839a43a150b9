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
		Use:   "load SKILL [ARGS...]",
		Short: "Activate a skill and print its instructions",
		Long: `Activates a skill: prints its instructions with the arguments inserted, as the profile's
agent gives them to its model. SKILL is a name or skill@owner/name. One argument is
passed as it is; several are quoted if necessary. Put arguments that begin with a hyphen
after --.

With --session, the skill stays active in that session until "skillpm deactivate". It is
not activated twice, cycles are errors, and at most five skills are nested
(skills.max-depth). "skillpm session allow" checks the restrictions of all active skills.
Without a session, nothing is stored.

A skill with disable-model-invocation: true can only be started by users, one with
user-invocable: false only by the model. The skill's pre hook runs first; if it fails,
the skill is not activated.

A skill with context: fork becomes a task, whose id is printed; --inline activates it
here. Commands in the text, such as !` + "`git log`" + `, run only with --allow-shell or
skills.dynamic-shell, and if the tool restrictions allow it.

With --json, results and errors have the structure that the profile's agent uses.`,
		Example: `  skillpm load deploy staging
  skillpm load deploy@acme/deploy --session 7f3a -- staging --dry-run
  skillpm load --trigger user kubectl-basics 'why is shop pending'
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
				a.Note("This skill has a command. Run it with: skillpm run %s", args[0])
			}
			return a.Answer(h, activation.Result())
		},
		ValidArgsFunction: a.CompleteSkills,
	}
	f = a.RuntimeFlags(cmd)
	cmd.Flags().StringVar(&trigger, "trigger", string(session.Model), "start the skill as the `user|model`")
	cmd.Flags().BoolVar(&o.Inline, "inline", false, "activate a skill with context: fork here")
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
