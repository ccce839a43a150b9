package console

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	helpWidth    = 80 // columns
	helpLines    = 24 // of the short help
	helpExamples = 3  // in the short help
	maxNames     = 30 // columns of the names of flags; longer names have a line of their own
)

// HelpGroup is a titled group of commands in an overview.
type HelpGroup struct {
	Title string
	Names []string
}

// PrintOverview prints the groups of commands with their summaries.
func PrintOverview(w io.Writer, root *cobra.Command, groups []HelpGroup) {
	byName := map[string]*cobra.Command{}
	for _, c := range root.Commands() {
		byName[c.Name()] = c
	}
	for _, group := range groups {
		fmt.Fprintf(w, "\n%s:\n", group.Title)
		for _, name := range group.Names {
			if c := byName[name]; c != nil && !c.Hidden {
				fmt.Fprintf(w, "  %-12s%s\n", name, c.Short)
			}
		}
	}
}

// PrintHelp prints the help of a command: all of it, or what fits in 24 lines of 80 columns.
func PrintHelp(w io.Writer, cmd *cobra.Command, full bool) {
	var head, tail []string
	head = append(head, cmd.Short)
	if full && cmd.Long != "" {
		head = append(append(head, ""), reflow(cmd.Long)...)
	}
	head = append(head, "", "Usage: "+usageLine(cmd))
	if full && len(cmd.Aliases) > 0 {
		head = append(head, "Aliases: "+strings.Join(cmd.Aliases, ", "))
	}
	if names := subcommands(cmd); len(names) > 0 {
		head = append(head, "", "Commands:")
		head = append(head, names...)
	}
	if cmd.HasExample() {
		examples := strings.Split(strings.Trim(cmd.Example, "\n"), "\n")
		if !full {
			examples = examples[:min(helpExamples, len(examples))]
		}
		tail = append(append(tail, "", "Examples:"), examples...)
	}
	if full {
		head = append(head, flagSection("Flags:", flagsOf(cmd, true))...)
		head = append(head, flagSection("Global flags:", visible(cmd.Root().PersistentFlags(), true, nil))...)
		if codes := cmd.Annotations[ExitCodesOf]; codes != "" {
			tail = append(tail, "", codes)
		} else {
			tail = append(tail, "", exitCodes)
		}
	} else {
		tail = append(tail, "", fmt.Sprintf("Run %q for all flags and details.", cmd.CommandPath()+" --help"))
		flags := flagsOf(cmd, false)
		for n := len(flags); n > 0; n-- {
			title := "Flags:"
			if n < len(flags) {
				title = "Common flags:"
			}
			section := flagSection(title, flags[:n])
			if len(head)+len(section)+len(tail) <= helpLines {
				head = append(head, section...)
				break
			}
		}
	}
	fmt.Fprintln(w, strings.Join(append(head, tail...), "\n"))
}

// reflow wraps the paragraphs of a text. Indented lines stay as they are.
func reflow(text string) []string {
	var lines []string
	paragraph := ""
	flush := func() {
		lines = append(lines, Wrap(paragraph, helpWidth)...)
		paragraph = ""
	}
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, " ") {
			flush()
			lines = append(lines, line)
			continue
		}
		paragraph += " " + line
	}
	flush()
	return lines
}

const exitCodes = `Exit codes: 0 success, 1 internal error, 2 usage, 3 invalid, 4 not found,
5 conflict, 6 integrity, 7 denied, 8 network, 130 interrupted`

// usageLine returns the usage of a command on one line.
func usageLine(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	if _, arguments, ok := strings.Cut(cmd.Use, " "); ok {
		line += " " + arguments
	} else if cmd.HasAvailableSubCommands() {
		line += " COMMAND"
	}
	if len(flagsOf(cmd, false)) > 0 {
		line += " [flags]"
	}
	return line
}

// subcommands returns a line for each subcommand.
func subcommands(cmd *cobra.Command) []string {
	var lines []string
	column := 12
	for _, name := range commandNames(cmd) {
		column = max(column, len(name)+2)
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			lines = append(lines, fmt.Sprintf("  %-*s%s", column, c.Name(), c.Short))
		}
	}
	return lines
}

// flagsOf returns the visible flags of a command without the global ones, sorted by name, or with rarely used ones
// last.
func flagsOf(cmd *cobra.Command, sorted bool) []*pflag.Flag {
	flags := visible(cmd.Flags(), sorted, cmd.Root().PersistentFlags())
	if !sorted {
		slices.SortStableFunc(flags, func(a, b *pflag.Flag) int {
			return len(a.Annotations[rare]) - len(b.Annotations[rare])
		})
	}
	return flags
}

// rare is the annotation of flags that the short help lists last.
const rare = "rare"

// MarkRare makes the short help of a command list flags last.
func MarkRare(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		_ = cmd.Flags().SetAnnotation(name, rare, []string{rare}) // cannot fail: the flag exists
	}
}

func visible(set *pflag.FlagSet, sorted bool, without *pflag.FlagSet) []*pflag.Flag {
	var flags []*pflag.Flag
	before := set.SortFlags
	set.SortFlags = sorted
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && (without == nil || without.Lookup(f.Name) != f) {
			flags = append(flags, f)
		}
	})
	set.SortFlags = before
	return flags
}

// flagSection returns the lines that describe flags.
func flagSection(title string, flags []*pflag.Flag) []string {
	if len(flags) == 0 {
		return nil
	}
	names, column := make([]string, len(flags)), 0
	usages := make([]string, len(flags))
	for i, f := range flags {
		value, usage := pflag.UnquoteUsage(f)
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		if value != "" && f.Value.Type() != "count" {
			name += " " + value
			if strings.TrimSpace(f.NoOptDefVal) != "" { // the value is optional
				name = strings.TrimSuffix(name, " "+value) + "[=" + value + "]"
			}
		}
		switch f.DefValue {
		case "", "false", "0", "[]", "0s":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		names[i], usages[i] = name, usage
		if len(name) <= maxNames {
			column = max(column, len(name))
		}
	}
	lines := []string{"", title}
	indent := strings.Repeat(" ", column+2)
	for i, name := range names {
		wrapped := Wrap(usages[i], helpWidth-len(indent))
		if len(name) > column {
			lines = append(lines, name)
			name = ""
		}
		for j, text := range wrapped {
			if j > 0 {
				name = ""
			}
			lines = append(lines, strings.TrimRight(fmt.Sprintf("%-*s  %s", column, name, text), " "))
		}
	}
	return lines
}
