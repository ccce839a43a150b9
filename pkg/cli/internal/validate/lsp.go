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
		Use:     "lsp",
		Short:   "Serve an editor that speaks the Language Server Protocol",
		GroupID: "author",
		Long: `Talk to an editor over standard input and output in the Language Server
Protocol: what skillpm validate finds while one types, the meaning of fields,
completion of fields, values, files and links, and quick fixes, in SKILL.md, in
the files beside it, and in skillpm.yaml.

Editors start it themselves; docs/editors.md of skillpm's repository says how to
set them up. The hosts that skills are checked for are what the editor sends as
"profiles", else those of --profile, else those of skillpm.yaml.`,
		Example: `  skillpm lsp
  skillpm lsp --profile claude-code,agentskills`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.JSON {
				return diag.Errorf(diag.Usage, "skillpm lsp has no --json: what it prints is the protocol's")
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
				a.Note("this talks to an editor, which starts it itself; Ctrl-C ends it")
			}
			return lsp.Serve(cmd.Context(), a.Stdin, a.Stdout, lsp.Options{
				Profiles: profiles, Version: console.BuildVersion(a.Version), OS: a.OS, Home: a.Paths.Home,
				Locks: []string{c.Paths.User().Lock()},
				Now:   a.Now, Delay: lspDelay,
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&profiles, "profile", nil, "check for these `HOSTS`, or all: "+strings.Join(profile.IDs(), ", "))
	f.Bool("stdio", true, "use standard input and output; there is no other way")
	_ = f.MarkHidden("stdio") // cannot fail: the flag exists; some editors always pass it
	a.CompleteFlag(cmd, "profile", func(_ *cobra.Command, _ []string, prefix string) ([]string,
		cobra.ShellCompDirective,
	) {
		return console.Matching(append(profile.IDs(), "all"), prefix), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}
