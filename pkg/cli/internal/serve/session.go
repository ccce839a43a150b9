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
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

func newSession(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "session",
		Short:   "Look at what is active in a session, and ask what may be called",
		GroupID: "serve",
		Long: `A session is what is in force for one agent at work: the skills that are active,
one inside the other, and the tools that all of them allow. It is known by its
id, from --session or SKILLPM_SESSION; skillpm load activates skills in it and
skillpm deactivate ends them. Any number of processes may use one at once.

A session that nobody uses is forgotten after 30 days.`,
		Example: `  skillpm session show --session 7f3a
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
		Short: "Say whether a tool may be called now, and why not",
		Long: `Answer whether a call of TOOL may go ahead: every active skill must allow it. The
name is the host's own; what hosts call one tool (Bash, shell) meets in one
table. A list with patterns, as Bash(git:*), needs the call's input: --input has
it as a JSON object, - reads it from standard input.

Exit code 0 says yes, 7 no; the error names the tool and the skill, and is
recorded in the audit log. Without an active skill, and for skillpm's own tools,
the answer is yes. A session whose state cannot be read allows nothing.

What counts is what the skills said when they were activated: where one was
changed, renamed or deleted since, that is a warning.`,
		Example: `  skillpm session allow Write --session 7f3a
  skillpm session allow Bash --input '{"command":"git push"}' --session 7f3a --json`,
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
	cmd.Flags().StringVar(&input, "input", "", "what the tool is called with: a `JSON` object, or - for standard input")
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
		return nil, diag.Errorf(diag.Usage, "the input has more than %d bytes", maxInput)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return nil, diag.Errorf(diag.Usage, "the input is not JSON: %v", err).
			WithHint(`write it as '{"command":"git push"}'`)
	}
	input, ok := value.(map[string]any)
	if !ok {
		return nil, diag.Errorf(diag.Usage, "the input is not a JSON object").
			WithHint(`write it as '{"command":"git push"}'`)
	}
	return input, nil
}

func (a *app) printVerdict(v session.Verdict) error {
	if !a.JSON {
		if v.Allowed {
			fmt.Fprintf(a.Stdout, "%s may be called\n", console.Printable(v.Tool))
		}
		return v.Err()
	}
	doc := struct {
		tool.Verdict
		Session string   `json:"session"`
		Known   bool     `json:"known"`
		Active  []string `json:"active"`
		Notes   []string `json:"notes,omitempty"`
	}{v.Verdict, v.Session, v.Known, v.Stack, v.Notes}
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
		a.Note("no session is named, so nothing is active; --session ID or SKILLPM_SESSION names one")
	default:
		a.Note("there is no session %s: nothing was activated in it", id)
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
		Use:   "show",
		Short: "Show what is active in a session, and the tools in force",
		Long: `Show the skills that are active in a session, the first activated first, and the
tools that all of them allow. A skill that is not what it was when it was
activated is marked: what it said then is in force.`,
		Example: "  skillpm session show --session 7f3a\n  SKILLPM_SESSION=7f3a skillpm session show --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			s := h.Session()
			if s.ID() == "" {
				return diag.Errorf(diag.Usage, "no session is named").
					WithHint("use --session ID, or set SKILLPM_SESSION; skillpm session list shows those there are")
			}
			state, err := s.State()
			if err != nil {
				return err
			}
			a.unknownSession(s.ID(), state.Known())
			return a.printSession(state)
		},
	}
	f = a.RuntimeFlags(cmd)
	return cmd
}

func (a *app) printSession(state session.State) error {
	if a.JSON {
		type active struct {
			session.Active
			Note string `json:"note,omitempty"`
		}
		list := []active{}
		for _, k := range state.Active {
			list = append(list, active{k, k.Drift()})
		}
		return a.PrintJSON(map[string]any{
			"session": state.ID, "known": state.Known(), "active": list,
			"tools": tools(state),
		})
	}
	if len(state.Active) == 0 {
		fmt.Fprintln(a.Stdout, "no skill is active; every tool may be called")
		return nil
	}
	rows := [][]string{{"SKILL", "ARGUMENTS", "SINCE", "ASKED BY"}}
	for _, k := range state.Active {
		rows = append(rows, []string{k.Exact(), k.Arguments, k.At.Format(time.RFC3339), string(k.Trigger)})
	}
	if err := console.Table(a.Stdout, rows); err != nil {
		return err
	}
	if entries := tools(state); entries == nil {
		fmt.Fprintln(a.Stdout, "\nevery tool may be called")
	} else {
		fmt.Fprintf(a.Stdout, "\ntools: %s\n", console.Printable(strings.Join(entries, ", ")))
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
		Short:   "List the sessions that are kept",
		Long: `List the sessions that are kept, the one used last first, with what is active in
each. One that cannot be read is shown with the reason; nothing is allowed in it
until skillpm session end removes it.`,
		Example: "  skillpm session list\n  skillpm session list --json",
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
				return a.PrintJSON(map[string]any{"sessions": sessions})
			}
			if len(sessions) == 0 {
				a.Note("there are no sessions; skillpm load SKILL --session ID begins one")
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
			return console.Table(a.Stdout, rows)
		},
	}
}

func newSessionEnd(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	cmd := &cobra.Command{
		Use:   "end [ID]",
		Short: "End every skill of a session and forget it",
		Long: `End the skills that are active in a session, the last one first, run their post
hooks, and forget the session: ID, or the one of --session. A session whose
state cannot be read is forgotten too, without hooks.`,
		Example: "  skillpm session end 7f3a\n  skillpm session end --session 7f3a --json",
		Args:    console.Need(0, 1, "at most one ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if f.Session != "" && f.Session != args[0] {
					return diag.Errorf(diag.Usage, "two sessions are named, %q and %q", f.Session, args[0]).
						WithHint("leave --session out")
				}
				f.Session = args[0]
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
				if bad := a.PrintJSON(map[string]any{"session": s.ID(), "ended": ended}); bad != nil {
					return bad
				}
				return a.afterResult(cmd, err)
			}
			fmt.Fprintf(a.Stdout, "forgot session %s\n", console.Printable(s.ID()))
			if len(ended) > 0 {
				a.Note("ended %s", strings.Join(ended, ", "))
			}
			return err
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.CompleteSessions(cmd, args, prefix)
		},
	}
	f = a.RuntimeFlags(cmd)
	return cmd
}
