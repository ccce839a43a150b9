package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

const exitCodes = `
Exit codes: 0 ok, 1 internal, 2 usage, 3 invalid, 4 not found, 5 conflict,
6 integrity, 7 denied, 8 remote, 130 interrupted
`

// exitCodesOf is the annotation of a command whose exit codes are others.
const exitCodesOf = "exit codes"

// newRoot returns the command line with the commands that are needed.
func newRoot(a *app, needed []command) *cobra.Command {
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
			if asked, err := cmd.Flags().GetBool("version"); err != nil || asked {
				fmt.Fprintf(a.Stdout, "skillpm %s\n", buildVersion(a.Version))
				return err
			}
			return unknownCommand(cmd, args)
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: len(needed) == 1},
	}
	root.Flags().BoolP("version", "v", false, "version for skillpm")
	flags := root.PersistentFlags()
	flags.StringVarP(&a.dir, "directory", "C", "", "work as if started in `DIR`")
	flags.StringVar(&a.config, "config", "", "read user settings from `FILE`")
	flags.BoolVar(&a.json, "json", false, "print the result as one JSON document")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print errors and warnings only")
	flags.BoolVar(&a.noColor, "no-color", false, "never use colour")
	_ = root.MarkPersistentFlagDirname("directory") // it cannot fail: the flag exists
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.json = a.json || a.asksJSON
		return flagError(err)
	})
	helpFor := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if name := cmd.Flags().Arg(0); cmd.HasAvailableSubCommands() && name != "" {
			a.helpless = unknownCommand(cmd, []string{name})
			return
		}
		helpFor(cmd, args)
	})
	root.SetHelpCommand(newHelp())
	usage := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error { // a template would keep the linker from leaving anything out
		codes := exitCodes
		if own, ok := cmd.Annotations[exitCodesOf]; ok {
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
		cmd := c.make(a)
		cmd.Args = usageArgs(cmd.Args)
		root.AddCommand(cmd)
	}
	return root
}

// command makes one command.
type command struct {
	name string
	make func(*app) *cobra.Command
}

// commands are all of them, but for help and completion.
func commands() []command {
	return []command{
		{"search", newSearch},
		{"install", newInstall},
		{"update", newUpdate},
		{"outdated", newOutdated},
		{"diff", newDiff},
		{"import", newImport},
		{"try", newTry},
		{"remove", newRemove},
		{"list", newList},
		{"info", newInfo},
		{"graph", newGraph},
		{"why", newWhy},
		{"verify", newVerify},
		{"vendor", newVendor},
		{"cache", newCache},
		{"doctor", newDoctor},
		{"prompt", newPrompt},
		{"find", newFind},
		{"load", newLoad},
		{"read", newRead},
		{"run", newRun},
		{"deactivate", newDeactivate},
		{"message", newMessage},
		{"session", newSession},
		{"mcp", newMCP},
		{"hook", newHook},
		{"task", newTask},
		{"dispatch", newDispatch},
		{"skills", newSkills},
		{"which", newWhich},
		{"profile", newProfile},
		{"trust", newTrust},
		{"deploy", newDeploy},
		{"test", newTest},
		{"policy", newPolicy},
		{"approve", newApprove},
		{"approvals", newApprovals},
		{"deny", newDeny},
		{"sync", newSync},
		{"audit", newAudit},
		{"validate", newValidate},
		{"rules", newRules},
		{"explain", newExplain},
		{"new", newNew},
		{"init", newInit},
		{"publish", newPublish},
		{"keygen", newKeygen},
		{"sign", newSign},
		{"signatures", newSignatures},
		{"pack", newPack},
		{"yank", newYank},
		{"unyank", newUnyank},
		{"deprecate", newDeprecate},
		{"login", newLogin},
		{"logout", newLogout},
		{"index", newIndex},
		{"registry", newRegistry},
		{"link", newLink},
		{"unlink", newUnlink},
		{"schema", newSchema},
		{"lsp", newLSP},
		{"version", newVersion},
	}
}

// asked returns the command that a command line begins with, and no others are needed for; nil where that is not sure. To
// make all of them takes a tenth of the time that a process needs to start.
func asked(args []string) []command {
	all := commands()
	args = afterGlobalFlags(args)
	if len(args) > 0 {
		if i := slices.IndexFunc(all, func(c command) bool { return c.name == args[0] }); i >= 0 {
			return all[i : i+1]
		}
	}
	return all
}

// afterGlobalFlags returns what a command line has after the flags that every command has.
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

// newHelp returns the command that prints the help of another one.
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
				return unknownCommand(about, rest)
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
	return matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// unknownCommand prints the help, or says which command was perhaps meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	err := diag.Errorf(diag.Usage, "unknown command %q", args[0])
	if hint, ok := elsewhere[args[0]]; ok && !cmd.HasParent() {
		return err.WithHint("%s", hint)
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return err.WithHint("did you mean %s?", strings.Join(near, " or "))
	}
	if cmd.HasParent() {
		return err.WithHint("%s has %s", cmd.CommandPath(), listed(cmd))
	}
	return err.WithHint("skillpm --help lists the commands")
}

// listed names the commands below one.
func listed(cmd *cobra.Command) string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return strings.Join(names, ", ")
}

// elsewhere says where to find what other package managers have as a command.
var elsewhere = map[string]string{
	"lint":  "skillpm validate checks skills",
	"check": "skillpm validate checks skills, skillpm verify what is installed",

	"unpublish":   "a published version stays: skillpm yank withdraws it",
	"delete":      "a published version stays: skillpm yank withdraws it; skillpm remove removes what is installed",
	"undeprecate": "skillpm deprecate --undo PACK",
	"push":        "skillpm publish publishes a pack",
	"pull":        "skillpm install installs a pack, skillpm try only looks at it",
	"add":         "skillpm install adds a pack, skillpm registry add a registry",
	"registries":  "skillpm registry list",
	"whoami":      "skillpm login keeps logins where docker does; each registry has its own",
	"site":        "skillpm index site",
}

// need returns a check of the number of arguments whose error says what is missing.
func need(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s", cmd.CommandPath(), what)
		case len(args) > most:
			return fmt.Errorf("%s takes %s, not %q as well", cmd.CommandPath(), what, args[most])
		}
		return nil
	}
}

// usageArgs gives an argument check's errors the usage exit code.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		check = need(0, 0, "no arguments")
	}
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return diag.Errorf(diag.Usage, "%v", err)
		}
		return nil
	}
}
