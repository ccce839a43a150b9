package console

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// ExitCodesOf is the annotation of a command with its own exit codes.
const ExitCodesOf = "exit codes"

// UnknownCommand prints the help, or an error with similar commands.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 && cmd.HasParent() {
		PrintHelp(cmd.OutOrStdout(), cmd, false)
		return nil
	}
	if len(args) == 0 {
		return cmd.Help()
	}
	return diag.Errorf(diag.Usage, "unknown command %q", args[0]).WithHint("%s", commandHint(cmd, args[0]))
}

// commandHint returns what a user of an unknown command may look for.
func commandHint(cmd *cobra.Command, word string) string {
	names := commandNames(cmd)
	if hint := elsewhereIn(cmd, word); hint != "" {
		return hint
	}
	if near := diag.Nearest(word, names); near != "" {
		return "did you mean " + near + "?"
	}
	if !cmd.HasParent() {
		if near := diag.Nearest(word, elsewhereWords()); near != "" {
			return elsewhere(near)
		}
	}
	var begin []string
	for _, name := range names {
		if len(word) > 1 && strings.HasPrefix(name, word) {
			begin = append(begin, name)
		}
	}
	switch {
	case len(begin) > 0:
		return "did you mean " + textx.Or(begin) + "?"
	case cmd.HasParent():
		return "use one of the commands " + textx.Or(names)
	}
	return "list the commands with: skillpm help"
}

// elsewhereIn returns the hint for a subcommand that other tools have, or "".
func elsewhereIn(cmd *cobra.Command, word string) string {
	group := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name())
	return elsewhere(strings.TrimSpace(group + " " + word))
}

// commandNames returns the names of the subcommands of a command.
func commandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// Need returns a check of the number of arguments. Its error names the missing argument.
func Need(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s needs %s", cmd.CommandPath(), what)
		case len(args) > most:
			return fmt.Errorf("unexpected argument %q: %s takes %s", args[most], cmd.CommandPath(), what)
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
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		failed := diag.Errorf(diag.Usage, "%v", err)
		if hint := elsewhereIn(cmd, FirstOf(args)); len(args) > 0 && hint != "" {
			return failed.WithHint("%s", hint)
		}
		return failed
	}
}
