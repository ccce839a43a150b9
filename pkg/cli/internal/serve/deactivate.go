package serve

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

func newDeactivate(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	cmd := &cobra.Command{
		Use:   "deactivate [SKILL]",
		Short: "Deactivate a skill",
		Long: `Without SKILL, the command deactivates the last activated skill of the session. With SKILL,
the command deactivates SKILL and the skills that are nested in SKILL. The tool
restrictions of deactivated skills end. The restrictions of active skills stay in effect.

The post hook of each skill runs, the hook of the last skill first. If a hook fails, the
exit code is 1, but skillpm deactivates the skills anyway.`,
		Example: `  skillpm deactivate --session 7f3a
  skillpm deactivate deploy --session 7f3a --json
  skillpm deactivate deploy@acme/deploy --session 7f3a`,
		Args: console.Need(0, 1, "one SKILL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			s := h.Session()
			ended, err := s.Deactivate(cmd.Context(), strings.Join(args, ""), session.User)
			if len(ended) == 0 {
				return err
			}
			if printErr := a.printEnded(s, ended); printErr != nil {
				return printErr
			}
			return a.AfterResult(cmd, err)
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
		return a.PrintJSON(deactivateDocument{s.ID(), ended, state.Names(), tools(state)})
	}
	fmt.Fprintf(a.Stdout, "Deactivated %s\n", strings.Join(ended, ", "))
	if len(state.Active) > 0 {
		a.Note("Still active: %s.", strings.Join(state.Names(), " → "))
	}
	return nil
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
