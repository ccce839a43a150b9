package validate

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/lsp"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// lspDelay is the delay after the last change before a skill is checked.
const lspDelay = 150 * time.Millisecond

func newLSP(a *app) *cobra.Command {
	var profiles []string
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Run the language server for editors",
		Long: `The server uses the Language Server Protocol over standard input and output. The server
supports SKILL.md, the other files of skills, and skillpm.yaml. Editors show findings while you type,
descriptions of fields, completions, and quick fixes.

Editors start the server automatically. The editor setting "profiles" selects the profiles
to validate for; otherwise, --profile or skillpm.yaml selects them.`,
		Example: `  skillpm lsp
  skillpm lsp --profile claude-code,agentskills
  skillpm lsp --profile all`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.JSON {
				return diag.Errorf(diag.Usage, "skillpm lsp does not support --json")
			}
			for _, id := range profiles {
				if _, err := profile.Lookup(id); err != nil && id != "all" {
					return err
				}
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			if console.Terminal(a.Stdin) {
				a.Note("Waiting for an editor on standard input. Press Ctrl-C to stop.")
			}
			return lsp.Serve(cmd.Context(), a.Stdin, console.Raw(a.Stdout), lsp.Options{
				Profiles: profiles, Version: console.BuildVersion(a.Version), OS: a.OS, Home: a.Paths.Home,
				Locks: []string{c.Paths.User().Lock()},
				Now:   a.Now, Delay: lspDelay,
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&profiles, "profile", nil,
		"validate for the profiles `IDS`, or all: "+strings.Join(profile.IDs(), ", "))
	f.Bool("stdio", true, "use standard input and output")
	_ = f.MarkHidden("stdio") // cannot fail: the flag exists; some editors always pass it
	a.CompleteFlag(cmd, "profile", func(_ *cobra.Command, _ []string, prefix string) ([]string,
		cobra.ShellCompDirective,
	) {
		return console.Matching(append(profile.IDs(), "all"), prefix), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}
