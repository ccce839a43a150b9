package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

const exitCodes = `
Exit codes: 0 ok, 1 internal, 2 usage, 3 invalid, 4 not found, 5 conflict,
6 integrity, 7 denied, 8 remote, 130 interrupted
`

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "skillpm",
		Short: "The package manager for agent skills",
		Long: `skillpm checks, installs, publishes and keeps agent skills: directories with a
SKILL.md that an agent loads and follows.`,
		Example: `  skillpm install acme/deploy      install a pack and link its skills for agents
  skillpm validate ./skills        check skills; a CI lint step
  skillpm new my-skill             write a valid skill
  skillpm publish                  publish the pack in this directory`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.ArbitraryArgs,
		RunE:              unknownCommand,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.SuggestionsMinimumDistance = 2
	flags := root.PersistentFlags()
	flags.StringVarP(&a.dir, "directory", "C", "", "work as if started in `DIR`")
	flags.StringVar(&a.config, "config", "", "read user settings from `FILE`")
	flags.BoolVar(&a.json, "json", false, "print the result as one JSON document")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print errors and warnings only")
	flags.BoolVar(&a.noColor, "no-color", false, "never use colour")
	_ = root.MarkPersistentFlagDirname("directory") // it cannot fail: the flag exists
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return diag.Errorf(diag.Usage, "%v", err) })
	root.SetUsageTemplate(strings.TrimSuffix(root.UsageTemplate(), "\n") + "\n" + exitCodes)
	root.AddGroup(
		&cobra.Group{ID: "use", Title: "Use skills:"},
		&cobra.Group{ID: "author", Title: "Write skills:"},
		&cobra.Group{ID: "about", Title: "About skillpm:"},
	)
	root.SetHelpCommandGroupID("about")
	root.SetCompletionCommandGroupID("about")
	for _, c := range commands(a) {
		c.Args = usageArgs(c.Args)
		root.AddCommand(c)
	}
	return root
}

func commands(a *app) []*cobra.Command {
	return []*cobra.Command{
		newInstall(a),
		newRemove(a),
		newList(a),
		newInfo(a),
		newVerify(a),
		newValidate(a),
		newNew(a),
		newInit(a),
		newPublish(a),
		newSchema(a),
		newVersion(a),
	}
}

// unknownCommand prints the help, or says which command was perhaps meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	err := diag.Errorf(diag.Usage, "unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return err.WithHint("did you mean %s?", strings.Join(near, " or "))
	}
	return err.WithHint("skillpm --help lists the commands")
}

// usageArgs gives an argument check's errors the usage exit code.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		check = cobra.NoArgs
	}
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return diag.Errorf(diag.Usage, "%v", err)
		}
		return nil
	}
}
