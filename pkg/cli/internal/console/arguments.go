package console

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
)

// ExitCodesOf is the annotation of a command with its own exit codes.
const ExitCodesOf = "exit codes"

// UnknownCommand prints the help, or an error with similar commands.
func UnknownCommand(cmd *cobra.Command, args []string) error {
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

// listed lists the subcommands of a command.
func listed(cmd *cobra.Command) string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return strings.Join(names, ", ")
}

// elsewhere returns a hint for the commands of other package managers.
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

// Need returns a check of the number of arguments. Its error names the missing argument.
func Need(least, most int, what string) cobra.PositionalArgs {
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

// UsageArgs wraps an argument check so that its errors have the usage exit code.
func UsageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		check = Need(0, 0, "no arguments")
	}
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return diag.Errorf(diag.Usage, "%v", err)
		}
		return nil
	}
}
