package connect

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/connect/hook"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/skill/agent"
)

func newHook(a *app) *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use:   "hook EVENT --agent AGENT",
		Short: "Answer a hook event of an agent",
		Long: `The agent writes a hook event to standard input as JSON, and reads the answer from standard
output in the format of the agent. Agents run this command automatically; "skillpm connect"
adds the command to their configuration.

The events show skillpm which skills the agent gives to its model. These skills are active
in the agent's session until the turn, the subagent, or the session ends. If an active skill
does not allow a tool call, skillpm denies the call, and the answer names the tool and the
skill. Otherwise, skillpm prints nothing.

EVENT is the agent's name for the event, such as PreToolUse, or a form such as pre-tool-use.
If skillpm cannot read an event, it denies the tool call, unless a policy sets
hooks: {unreadable: open}.

The exit code is 2 only after a fatal error of the Go runtime. Some agents treat
it as a denial.`,
		Annotations: map[string]string{console.ExitCodesOf: "Exit codes: 0 answered, even if denied; " +
			"1 error; the agent continues"},
		Example: `  skillpm hook PreToolUse --agent claude-code < event.json
  skillpm hook BeforeTool --agent gemini < event.json
  skillpm hook SessionStart --agent codex < event.json`,
		Args: console.Need(0, 1, "one EVENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && id == "" {
				return cmd.Help()
			}
			return a.answerHook(cmd.Context(), id, strings.Join(args, ""))
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return completeEvents(id, args, prefix)
		},
	}
	cmd.Flags().StringVar(&id, "agent", "", "the `AGENT` that sends the event: "+strings.Join(hook.IDs(), ", "))
	complete := func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return console.Matching(hook.IDs(), prefix), cobra.ShellCompDirectiveNoFileComp
	}
	a.CompleteFlag(cmd, "agent", complete)
	return cmd
}

func completeEvents(id string, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, a := range hook.Agents() {
		if len(args) == 0 && (id == "" || a.Is(id)) {
			names = append(names, a.Events...)
		}
	}
	slices.Sort(names)
	return console.Matching(slices.Compact(names), prefix), cobra.ShellCompDirectiveNoFileComp
}

// answerHook answers an event. A panic denies a tool call. It opens the runtime in the directory of the event.
func (a *app) answerHook(ctx context.Context, id, event string) (err error) {
	answered := false
	defer func() {
		switch p := recover(); {
		case p == nil:
		case answered: // an agent ignores two answers, and that of a command that fails
			a.Report(nil, bug.New(p))
		default:
			err = a.deny(id, event, bug.New(p))
		}
	}()
	var once sync.Once
	if a.Exit != nil {
		bug.OnPanic(func(p *bug.Panic) {
			once.Do(func() {
				code := diag.OK
				if err := a.deny(id, event, p); err != nil {
					code = console.Failed(a.Environment, err)
				}
				a.Exit(int(code))
			})
		})
	}
	if id == "" {
		return diag.Errorf(diag.Usage, "skillpm hook needs --agent").
			WithHint("use %s", textx.OneOf(hook.IDs()))
	}
	o := a.hookOptions(id)
	o.Event = event
	open := false
	lenient := o.Lenient
	o.Lenient = func(dir string) bool {
		open = lenient(dir)
		return open
	}
	r := hook.Answer(ctx, o, a.Stdin)
	once.Do(func() { _, err = a.Content(a.Stdout).Write(r.Stdout) })
	if err != nil {
		return err
	}
	answered = len(r.Stdout) > 0
	a.Warnings(r.Notes)
	if r.Err != nil && open { // an agent may deny a call whose hook fails, and the policy allows the call
		a.Warn("%v", r.Err)
		return nil
	}
	return r.Err
}

// deny denies the tool call of an event because of a panic, and returns the panic if the event is another one.
func (a *app) deny(id, event string, p *bug.Panic) error {
	denial := hook.Denial(id, event, a.Secrets.RedactError(p))
	if len(denial) == 0 {
		return p
	}
	a.Report(nil, p)
	_, err := a.Stdout.Write(denial) // agents ignore it if the command fails
	return err
}

// hookOptions returns the options for answering an event. A missing working directory or home directory is an error
// only when the runtime is opened.
func (a *app) hookOptions(id string) hook.Options {
	dir, missing := a.WorkDir()
	env, homeless := a.EnvironmentIn(dir)
	paths := env.Paths
	state := paths.State
	if homeless != nil {
		state = ""
	}
	id = agent.Canonical(id)
	openGuard := func(dir string) *enforce.Evaluator {
		return enforce.Open(enforce.Options{
			Files:    enforce.Files{Paths: paths, OS: a.OS, Admin: a.Admin},
			Projects: hookProjects(paths, dir), Now: a.Now,
		})
	}
	return hook.Options{
		Agent: id, Dir: dir, State: state, Getenv: a.Getenv, Now: a.Now, Secrets: a.Secrets,
		Open: func(ctx context.Context, p hook.SessionRequest) (*runtime.Host, error) {
			switch {
			case homeless != nil:
				return nil, homeless
			case p.Dir == "" && missing != nil:
				return nil, missing
			}
			dirEnv := env
			dirEnv.Dir = cmp.Or(p.Dir, dir)
			o := console.HostOptions(&console.RuntimeFlags{Session: p.Session, Profile: p.Profile, Client: id}, dirEnv)
			o.Parents = p.Parents
			if a.OwnsProcess {
				runtime.AdoptProcesses() // it starts only the hooks of skills
			}
			return runtime.New(ctx, o)
		},
		Lenient: func(dir string) bool { return homeless == nil && openGuard(dir).HooksOpen() },
		Record: func(dir string, r audit.Record) error {
			if homeless != nil {
				return nil // the log has no location
			}
			l := openGuard(dir).Log()
			return audit.Open(cmp.Or(l.Path, filepath.Join(paths.State, "audit", audit.Name)),
				audit.Options{Now: a.Now, Required: l.Required, Team: l.Team, Secrets: a.Secrets}).Write(r)
		},
	}
}

// hookProjects returns the project whose policy applies in a directory.
func hookProjects(paths scope.Paths, dir string) []string {
	if dir == "" {
		return nil
	}
	if s, found, err := paths.Project(dir); err == nil && found {
		return []string{s.Root}
	}
	return []string{dir}
}

// answersHook reports whether a command line answers a hook event, even if it is invalid: its exit code must never be
// that of a usage error, which some agents treat as a denial.
func answersHook(args []string) bool {
	return firstWord(args, "directory", "C", "config", "color") == "hook"
}

// firstWord returns the first word of a command line that is neither a flag nor a flag's value, or "".
func firstWord(args []string, valued ...string) string {
	for i := 0; i < len(args); i++ {
		name, flag := strings.CutPrefix(args[i], "-")
		switch {
		case !flag || name == "":
			return args[i]
		case slices.Contains(valued, strings.TrimPrefix(name, "-")):
			i++
		}
	}
	return ""
}

// HookCode returns the exit code of a command that answers an event: invalid input is a general error.
func HookCode(args []string, code diag.Code) diag.Code {
	if code != diag.OK && answersHook(args) {
		return diag.Internal
	}
	return code
}
