package validate

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/schema"
)

func newSchema(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print JSON Schemas",
		Long: `NAME selects a JSON Schema (draft 2020-12): for the frontmatter of a profile's skills, for a
file of skillpm, or for the --json output of a command. For example, output/log-verify is the schema
of "skillpm log verify --json". Without NAME, the command lists the names.`,
		Example: `  skillpm schema
  skillpm schema output/list
  skillpm schema skill.claude-code
  skillpm schema manifest > skillpm.schema.json`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return console.Matching(schemaNames(), prefix), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listSchemas()
			}
			return a.printSchema(args[0])
		},
	}
}

func schemaNames() []string { return append(schema.Names(), schema.OutputNames()...) }

func (a *app) listSchemas() error {
	names := schemaNames()
	if a.JSON {
		return a.PrintJSON(schemasDocument{names})
	}
	_, err := fmt.Fprintln(a.Stdout, strings.Join(names, "\n"))
	return err
}

// printSchema prints a schema by its name; "skill" is the default profile's, and a profile's id means its frontmatter
// schema.
func (a *app) printSchema(name string) error {
	if name == "skill" {
		name = "skill." + profile.Default
	}
	for _, candidate := range []string{name, "skill." + name, "output/" + name} {
		if text, err := schema.Read(candidate); err == nil {
			_, err = a.Stdout.Write(text)
			return err
		}
	}
	err := diag.Errorf(diag.NotFound, "unknown schema %q", name)
	if near := diag.Nearest(name, schemaNames()); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("list the names with: skillpm schema")
}
