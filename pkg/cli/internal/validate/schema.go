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
		Use:     "schema [NAME]",
		Short:   "Print a JSON Schema, or list them",
		GroupID: "author",
		Long: `Print the JSON Schema (draft 2020-12) of a skill's frontmatter under a profile, or
of one of skillpm's own files. Without a name, list the names. The same files are
in schema/ of skillpm's repository, for editors.`,
		Example: `  skillpm schema
  skillpm schema skill.claude-code
  skillpm schema manifest > skillpm.schema.json`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return console.Matching(schema.Names(), prefix), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listSchemas()
			}
			return a.printSchema(args[0])
		},
	}
}

func (a *app) listSchemas() error {
	names := schema.Names()
	if a.JSON {
		return a.PrintJSON(names)
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
	for _, candidate := range []string{name, "skill." + name} {
		if text, err := schema.Read(candidate); err == nil {
			_, err = a.Stdout.Write(text)
			return err
		}
	}
	err := diag.Errorf(diag.NotFound, "there is no schema %q", name)
	if near := diag.Nearest(name, schema.Names()); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("skillpm schema lists the names")
}
