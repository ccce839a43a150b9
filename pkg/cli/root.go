package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/author"
	"github.com/skillpm/skillpm/pkg/cli/internal/connect"
	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/govern"
	"github.com/skillpm/skillpm/pkg/cli/internal/install"
	"github.com/skillpm/skillpm/pkg/cli/internal/serve"
	"github.com/skillpm/skillpm/pkg/cli/internal/validate"
	"github.com/skillpm/skillpm/pkg/diag"
)

const exitCodes = `
Exit codes: 0 ok, 1 internal, 2 usage, 3 invalid, 4 not found, 5 conflict,
6 integrity, 7 denied, 8 remote, 130 interrupted
`

// newRoot returns the root command with the given commands.
func newRoot(a *console.App, needed []console.Command) *cobra.Command {
	root := &cobra.Command{
		Use:   "skillpm",
		Short: "The package manager for agent skills",
		Long: `skillpm checks, installs, publishes and keeps agent skills: directories with a
SKILL.md that an agent loads and follows.`,
		Example: `  skillpm install acme/deploy      install a pack and link its skills for agents
  skillpm prompt                   tell an agent which skills there are
  skillpm load deploy              give it one skill's instructions
  skillpm validate ./skills        check skills; a CI lint step
  skillpm new my-skill             write a valid skill
  skillpm publish                  publish the pack in this directory`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version, err := cmd.Flags().GetBool("version"); err != nil || version {
				fmt.Fprintf(a.Stdout, "skillpm %s\n", console.BuildVersion(a.Version))
				return err
			}
			return console.UnknownCommand(cmd, args)
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: len(needed) == 1},
	}
	root.Flags().BoolP("version", "v", false, "version for skillpm")
	flags := root.PersistentFlags()
	flags.StringVarP(&a.Chdir, "directory", "C", "", "work as if started in `DIR`")
	flags.StringVar(&a.Config, "config", "", "read user settings from `FILE`")
	flags.BoolVar(&a.JSON, "json", false, "print the result as one JSON document")
	flags.BoolVarP(&a.Quiet, "quiet", "q", false, "print errors and warnings only")
	flags.BoolVar(&a.NoColor, "no-color", false, "never use colour")
	_ = root.MarkPersistentFlagDirname("directory") // cannot fail: the flag exists
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.JSON = a.JSON || a.WantsJSON
		return console.FlagError(err)
	})
	defaultHelp := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if name := cmd.Flags().Arg(0); cmd.HasAvailableSubCommands() && name != "" {
			a.Helpless = console.UnknownCommand(cmd, []string{name})
			return
		}
		defaultHelp(cmd, args)
	})
	root.SetHelpCommand(newHelp())
	usage := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error { // a template would prevent the linker from removing unused code
		codes := exitCodes
		if own, ok := cmd.Annotations[console.ExitCodesOf]; ok {
			codes = "\n" + own + "\n"
		}
		defer fmt.Fprint(cmd.OutOrStderr(), codes)
		return usage(cmd)
	})
	root.AddGroup(
		&cobra.Group{ID: "use", Title: "Install packs of skills:"},
		&cobra.Group{ID: "serve", Title: "Use skills, serve them to agents:"},
		&cobra.Group{ID: "govern", Title: "Govern what skills may do:"},
		&cobra.Group{ID: "author", Title: "Write and publish skills:"},
		&cobra.Group{ID: "about", Title: "About skillpm:"},
	)
	root.SetHelpCommandGroupID("about")
	root.SetCompletionCommandGroupID("about")
	for _, c := range needed {
		cmd := c.New(a)
		cmd.Args = console.UsageArgs(cmd.Args)
		root.AddCommand(cmd)
	}
	return root
}

// commands are all commands except help and completion.
func commands() []console.Command {
	return slices.Concat(install.Commands(), serve.Commands(), connect.Commands(), govern.Commands(),
		validate.Commands(),
		author.Commands(), []console.Command{{Name: "version", New: newVersion}})
}

// commandPath returns the only command that a command line needs, or nil if that is uncertain. Creating all commands
// takes a tenth of the startup time.
func commandPath(args []string) []console.Command {
	all := commands()
	args = afterGlobalFlags(args)
	if len(args) > 0 {
		if i := slices.IndexFunc(all, func(c console.Command) bool { return c.Name == args[0] }); i >= 0 {
			return all[i : i+1]
		}
	}
	return all
}

// afterGlobalFlags returns a command line without the leading global flags.
func afterGlobalFlags(args []string) []string {
	for len(args) > 0 {
		switch arg := args[0]; {
		case arg == "-C" || arg == "--directory" || arg == "--config":
			args = args[min(2, len(args)):]
		case arg == "--json" || arg == "-q" || arg == "--quiet" || arg == "--no-color",
			strings.HasPrefix(arg, "--directory=") || strings.HasPrefix(arg, "--config="):
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}

// newHelp returns the command that prints the help of another command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "Help about any command",
		GroupID:           "about",
		ValidArgsFunction: completeCommands,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return diag.Errorf(diag.Usage, "%v", err)
			}
			if len(rest) > 0 && about.HasAvailableSubCommands() {
				return console.UnknownCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// completeCommands completes the names of commands.
func completeCommands(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if about, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
		for _, c := range about.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
			}
		}
	}
	return console.Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}
