package serve

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

func newDeactivate(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	cmd := &cobra.Command{
		Use:     "deactivate [SKILL]",
		Short:   "End a skill and give its tools back",
		GroupID: "serve",
		Long: `End the skill that was activated last in a session, or SKILL with all that are
active above it. What they forbade may be called again; what those below forbid
may not.

The post hook of each skill that ends runs then, the last skill's first. Where
one fails, that is an error with exit code 1, and the skills have ended all the
same.`,
		Example: `  skillpm deactivate --session 7f3a
  skillpm deactivate deploy --session 7f3a --json`,
		Args: console.Need(0, 1, "at most one SKILL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			s := h.Session()
			ended, err := s.Deactivate(cmd.Context(), strings.Join(args, ""))
			if len(ended) == 0 {
				return err
			}
			if printErr := a.printEnded(s, ended); printErr != nil {
				return printErr
			}
			return a.afterResult(cmd, err)
		},
		ValidArgsFunction: a.completeActive,
	}
	f = a.RuntimeFlags(cmd)
	return cmd
}

// printEnded prints the deactivated skills and the remaining active ones.
func (a *app) printEnded(s *session.Session, ended []string) error {
	state, err := s.State()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{
			"session": s.ID(), "ended": ended, "active": state.Names(),
			"tools": tools(state),
		})
	}
	fmt.Fprintf(a.Stdout, "ended %s\n", console.Printable(strings.Join(ended, ", ")))
	if len(state.Active) > 0 {
		a.Note("still active: %s", strings.Join(state.Names(), " → "))
	}
	return nil
}

// afterResult reports an error of a command that has already printed its result.
func (a *app) afterResult(cmd *cobra.Command, err error) error {
	if err == nil || !a.JSON {
		return err
	}
	a.JSON = false
	a.Report(cmd, err)
	return console.Reported{Exit: diag.CodeOf(err)}
}

// tools returns the allowed tools for text and JSON output; nil if all tools are allowed.
func tools(state session.State) []string {
	set := state.Tools()
	if !set.Restricts() {
		return nil
	}
	if entries := set.Entries(); entries != nil {
		return entries
	}
	return []string{}
}

// completeActive completes the active skills of the session.
func (a *app) completeActive(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	h := a.CompletionHost(cmd)
	if h == nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	state, err := h.Session().State()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return console.Matching(state.Names(), prefix), cobra.ShellCompDirectiveNoFileComp
}
