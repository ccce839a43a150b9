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
	"github.com/skillpm/skillpm/pkg/cli/internal/selfupdate"
	"github.com/skillpm/skillpm/pkg/cli/internal/serve"
	"github.com/skillpm/skillpm/pkg/cli/internal/validate"
	"github.com/skillpm/skillpm/pkg/diag"
)

// newRoot returns the root command with the given commands.
func newRoot(a *console.App, needed []console.Command) *cobra.Command {
	root := &cobra.Command{
		Use:           "skillpm",
		Short:         "The package manager for agent skills",
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
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			err := setFromEnvironment(a, cmd)
			if err == nil {
				a.WantsJSON = a.JSON
			}
			if out, ok := a.Stdout.(*console.Output); ok {
				out.Text = !a.JSON && printsText(cmd)
				out.Colors = a.Palette(out)
				out.Wrap = out.Text && console.Terminal(out)
			}
			return err
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}, // see newCompletion
	}
	root.Flags().BoolP("version", "V", false, "print the version")
	flags := root.PersistentFlags()
	flags.StringVarP(&a.Chdir, "directory", "C", "", "run the command in `DIR`")
	flags.StringVar(&a.Config, "config", "", "read the user's settings from `FILE`")
	flags.BoolVar(&a.JSON, "json", false, "print the result as JSON")
	flags.BoolVarP(&a.Quiet, "quiet", "q", false, "omit progress, notes, and summaries")
	flags.CountVarP(&a.Verbose, "verbose", "v", "show sources, fetches, and durations; -vv also shows requests")
	flags.Var(&a.Color, "color", "color output: `WHEN` is auto, always, or never")
	a.CompleteFlag(root, "color", cobra.FixedCompletions(console.ColorModes, cobra.ShellCompDirectiveNoFileComp))
	_ = root.MarkPersistentFlagDirname("directory") // cannot fail: the flag exists
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return console.UnknownFlag(cmd, err)
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		switch name := cmd.Flags().Arg(0); {
		case cmd.HasAvailableSubCommands() && name != "":
			a.Helpless = console.UnknownCommand(cmd, []string{name})
		case cmd == root:
			printOverview(root.OutOrStdout(), root, false)
		default:
			console.PrintHelp(cmd.OutOrStdout(), cmd, !a.ShortHelp)
		}
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error { // cobra's template would keep the linker from removing code
		console.PrintHelp(cmd.OutOrStderr(), cmd, false)
		return nil
	})
	root.SetHelpCommand(newHelp(a))
	for _, c := range needed {
		cmd := c.New(a)
		cmd.Args = console.UsageArgs(cmd.Args)
		root.AddCommand(cmd)
	}
	return root
}

// commands are all commands except help.
func commands() []console.Command {
	return slices.Concat(install.Commands(), serve.Commands(), connect.Commands(), govern.Commands(),
		validate.Commands(),
		author.Commands(), selfupdate.Commands(), []console.Command{
			{Name: "completion", New: newCompletion}, {Name: "version", New: newVersion},
		})
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
		case arg == "-C" || arg == "--directory" || arg == "--config" || arg == "--color":
			args = args[min(2, len(args)):]
		case arg == "--json" || arg == "-q" || arg == "--quiet" || arg == "-v" || arg == "--verbose",
			strings.HasPrefix(arg, "--directory=") || strings.HasPrefix(arg, "--config="),
			strings.HasPrefix(arg, "--color="):
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}

// newHelp returns the command that prints the help of another command.
func newHelp(a *console.App) *cobra.Command {
	all := false
	help := &cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "Show help for a command",
		ValidArgsFunction: completeCommands,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.Paged(func() error {
					printOverview(a.Stdout, cmd.Root(), all)
					return nil
				})
			}
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
	help.Flags().BoolVar(&all, "all", false, "list all commands")
	return help
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
