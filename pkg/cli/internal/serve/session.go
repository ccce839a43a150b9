package serve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

func newSession(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Inspect sessions and check tool calls",
		Long: `A session is one conversation of an agent, with the active skills and their tool
restrictions. Set the id of the session with --session or SKILLPM_SESSION. "skillpm load"
activates a skill in the session, and "skillpm deactivate" deactivates the skill. Several
processes can share a session.

skillpm removes a session 30 days after its last use.`,
		Example: `  skillpm session show 7f3a
  skillpm session allow Bash --input '{"command":"git push"}' --session 7f3a
  skillpm session list
  skillpm session end 7f3a`,
		RunE: console.UnknownCommand,
		Args: cobra.ArbitraryArgs,
	}
	for _, c := range []*cobra.Command{newSessionShow(a), newSessionAllow(a), newSessionList(a), newSessionEnd(a)} {
		c.Args = console.UsageArgs(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func newSessionAllow(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	var input string
	cmd := &cobra.Command{
		Use:   "allow TOOL",
		Short: "Check whether active skills allow a tool call",
		Long: `TOOL is the agent's name for a tool. All active skills must allow the call. If agents use
different names for one tool, such as Bash and shell, the names are equivalent. Restrictions with
patterns, such as Bash(git:*), need the input of the call: a JSON object in --input, or -
for standard input.

Exit code 0 means allowed, and 7 denied. The error names the tool and the skill, and the
audit log records the denial. If no skill is active, all calls are allowed. Calls of
skillpm's own tools are always allowed. If skillpm cannot read the state of the session,
all calls are denied.

The command checks the restrictions that the skills had at their activation. If a skill has
changed since then, the command prints a warning.`,
		Example: `  skillpm session allow Write --session 7f3a
  skillpm session allow Bash --input '{"command":"ls"}' --session 7f3a
  skillpm session allow Read --json --session 7f3a`,
		Args: console.Need(1, 1, "one TOOL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			call := tool.Call{Tool: args[0]}
			if cmd.Flags().Changed("input") {
				var err error
				if call.Input, err = a.toolInput(input); err != nil {
					return err
				}
			}
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			v, err := h.Session().Allow(cmd.Context(), call)
			if err != nil {
				return err
			}
			a.Warnings(v.Notes)
			a.unknownSession(v.Session, v.Known)
			return a.printVerdict(v)
		},
		ValidArgsFunction: completeTools,
	}
	f = a.RuntimeFlags(cmd)
	cmd.Flags().StringVar(&input, "input", "", "use the tool's input, a `JSON` object, or - for standard input")
	a.CompleteFlag(cmd, "input", cobra.NoFileCompletions)
	return cmd
}

// maxInput limits the input of a call, in bytes.
const maxInput = 64 << 20

func (a *app) toolInput(text string) (map[string]any, error) {
	var reader io.Reader = strings.NewReader(text)
	if text == "-" {
		reader = a.Stdin
	}
	data, err := io.ReadAll(io.LimitReader(reader, maxInput+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxInput {
		return nil, diag.Errorf(diag.Usage, "the tool's input is larger than %d bytes", maxInput)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, diag.Errorf(diag.Usage, "the tool's input is not valid JSON: %v", err).
			WithHint(`use a JSON object such as '{"command":"git push"}'`)
	}
	input, ok := value.(map[string]any)
	if !ok {
		return nil, diag.Errorf(diag.Usage, "the tool's input is not a JSON object").
			WithHint(`use a JSON object such as '{"command":"git push"}'`)
	}
	return input, nil
}

func (a *app) printVerdict(v session.Verdict) error {
	if !a.JSON {
		if v.Allowed {
			fmt.Fprintf(a.Stdout, "%s is allowed\n", v.Tool)
		}
		return v.Err()
	}
	doc := verdictDocument{v.Verdict, v.Session, v.Known, v.Stack, v.Notes}
	if doc.Active == nil {
		doc.Active = []string{}
	}
	if err := a.PrintJSON(doc); err != nil {
		return err
	}
	if !v.Allowed {
		return console.Reported{Exit: diag.Denied}
	}
	return nil
}

// unknownSession warns that a session does not exist, because its id may be wrong.
func (a *app) unknownSession(id string, known bool) {
	switch {
	case known:
	case id == "":
		a.Note("No session selected, so no skill is active. Select a session with --session ID or SKILLPM_SESSION.")
	default:
		a.Note("Session %s does not exist.", id)
	}
}

func completeTools(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, t := range tool.Table() {
		if len(args) == 0 {
			names = append(names, t.Name)
		}
	}
	return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

func newSessionShow(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show active skills and tool restrictions",
		Long: `The command shows the skills in the order of their activation, and the tools that all
active skills allow. If a skill has changed since its activation, the command prints a
warning, and the restrictions at the time of activation stay in effect.`,
		Example: `  skillpm session show 7f3a
  SKILLPM_SESSION=7f3a skillpm session show --json
  skillpm session show 7f3a --profile claude-code`,
		Args: console.Need(0, 1, "one ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := takeSession(f, args); err != nil {
				return err
			}
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			s := h.Session()
			if s.ID() == "" {
				return diag.Errorf(diag.Usage, "skillpm session show needs the ID of a session").
					WithHint("name a session or set SKILLPM_SESSION, and list sessions with: skillpm session list")
			}
			state, err := s.State()
			if err != nil {
				return err
			}
			a.unknownSession(s.ID(), state.Known())
			return a.printSession(state)
		},
		ValidArgsFunction: a.completeSession,
	}
	f = a.RuntimeFlags(cmd)
	return cmd
}

func (a *app) printSession(state session.State) error {
	if a.JSON {
		list := []activeSkill{}
		for _, k := range state.Active {
			list = append(list, activeSkill{k, k.Drift()})
		}
		return a.PrintJSON(sessionDocument{state.ID, state.Known(), list, tools(state)})
	}
	if len(state.Active) == 0 {
		fmt.Fprintln(a.Stdout, "No active skills. All tools are allowed.")
		return nil
	}
	rows := [][]string{{"SKILL", "ARGUMENTS", "SINCE", "STARTED BY"}}
	for _, k := range state.Active {
		rows = append(rows, []string{k.Exact(), k.Arguments, k.At.Format(time.RFC3339), string(k.Trigger)})
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	if entries := tools(state); entries == nil {
		fmt.Fprintln(a.Stdout, "\nAll tools are allowed.")
	} else {
		fmt.Fprintf(a.Stdout, "\nAllowed tools: %s\n", console.Printable(strings.Join(entries, ", ")))
	}
	for _, k := range state.Active {
		if note := k.Drift(); note != "" {
			a.Warn("%s", note)
		}
	}
	return nil
}

func newSessionList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List sessions",
		Long: `The last used session comes first. If skillpm cannot read a session, the list shows the
reason, and skillpm denies all calls in the session until "skillpm session end" removes
the session.`,
		Example: `  skillpm session list
  skillpm session list --json
  skillpm session ls -C ../other-project`,
		RunE: func(*cobra.Command, []string) error {
			env, err := a.Env()
			if err != nil {
				return err
			}
			sessions, err := session.List(env.Paths.State)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(sessionsDocument{sessions})
			}
			if len(sessions) == 0 {
				a.Note("No sessions. Start one with: skillpm load SKILL --session ID")
				return nil
			}
			rows := [][]string{{"SESSION", "ACTIVE", "USED"}}
			for _, k := range sessions {
				what := strings.Join(k.Active, " → ")
				if k.Damaged != "" {
					k.ID, what = cmp.Or(k.ID, k.File), "damaged: "+k.Damaged
				}
				rows = append(rows, []string{k.ID, what, k.Used.Format(time.RFC3339)})
			}
			if err := console.Table(a.Stdout, rows); err != nil {
				return err
			}
			a.Note("%s.", textx.Count(len(rows)-1, "session"))
			return nil
		},
	}
}

func newSessionEnd(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	cmd := &cobra.Command{
		Use:   "end [ID]",
		Short: "End a session",
		Long: `The command deactivates all skills of the session, the last skill first, runs their post
hooks, and removes the session. If skillpm cannot read the state of the session, it
removes the session without running hooks.`,
		Example: `  skillpm session end 7f3a
  skillpm session end --session 7f3a --json
  SKILLPM_SESSION=7f3a skillpm session end`,
		Args: console.Need(0, 1, "one ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := takeSession(f, args); err != nil {
				return err
			}
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			s := h.Session()
			ended, err := s.End(cmd.Context())
			if ended == nil && err != nil {
				return err
			}
			if a.JSON {
				if ended == nil {
					ended = []string{}
				}
				if bad := a.PrintJSON(endedDocument{s.ID(), ended}); bad != nil {
					return bad
				}
				return a.AfterResult(cmd, err)
			}
			fmt.Fprintf(a.Stdout, "Ended session %s\n", s.ID())
			if len(ended) > 0 {
				a.Note("Deactivated %s.", strings.Join(ended, ", "))
			}
			return err
		},
		ValidArgsFunction: a.completeSession,
	}
	f = a.RuntimeFlags(cmd)
	return cmd
}

// takeSession makes an argument the session.
func takeSession(f *console.RuntimeFlags, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if f.Session != "" && f.Session != args[0] {
		return diag.Errorf(diag.Usage, "ID %q and --session %q are different sessions", args[0], f.Session).
			WithHint("leave out --session")
	}
	f.Session = args[0]
	return nil
}

func (a *app) completeSession(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.CompleteSessions(cmd, args, prefix)
}
