package validate

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

func newExplain(a *app) *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "explain [ID...]",
		Short: "Explain validation rules",
		Long: `The output shows why a rule exists, a bad and a good example, how to fix a finding, and how
to suppress a finding. ID is a rule (REF001), a family (REF), or a prefix with a star
(SEC2*), also of the project's rule files. Rules that start with CA belong to "skillpm
skills". Examples show invisible characters as escapes, such as \u200b.

Without ID, or with --list, the command lists the rules. Rules with the mark "off" are
disabled by default. Rules with the mark "weak" report only errors by default: alone, their
other findings are often wrong. "skillpm validate --fix" can usually fix findings of rules
with the mark "fix". Rules with the mark "capability" show what a skill can do.`,
		Example: `  skillpm explain REF001
  skillpm explain
  skillpm explain --list FM 'SEC1*'`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeRules,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || list {
				return a.Paged(func() error { return a.printSelected(args, a.printRules) })
			}
			if rules := catalogRules(args); rules != nil {
				return a.explainCatalog(rules)
			}
			return a.Paged(func() error { return a.printSelected(args, a.explain) })
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the rules")
	return cmd
}

// catalogRules returns the rules of "skillpm skills" that arguments name, or nil if one is not such a rule.
func catalogRules(ids []string) []catalog.Rule {
	var out []catalog.Rule
	for _, id := range ids {
		before := len(out)
		for _, r := range catalog.Rules() {
			if id = strings.ToUpper(id); r.ID == id || id == "CA" {
				out = append(out, r)
			}
		}
		if len(out) == before {
			return nil
		}
	}
	return out
}

// explainCatalog explains rules of "skillpm skills".
func (a *app) explainCatalog(rules []catalog.Rule) error {
	if a.JSON {
		return a.PrintJSON(catalogRulesDocument{rules})
	}
	for _, r := range rules {
		fmt.Fprintf(a.Stdout, "%s  %s\n  %s.\n  \"skillpm skills\" reports this finding with a fix.\n",
			r.ID, r.Severity, strings.ReplaceAll(r.What, "`", ""))
	}
	return nil
}

// printSelected prints the rules that arguments name, as JSON or with print.
func (a *app) printSelected(args []string, print func([]rule.Rule) error) error {
	rules, err := rule.Select(args...)
	if err != nil || len(args) == 0 {
		c, err := a.Author()
		if err != nil {
			return err
		}
		team, err := c.ProjectRules()
		if err != nil {
			return err
		}
		if rules, err = team.Select(args...); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(rulesDocument{rules})
	}
	return print(rules)
}

// completeRules completes rule ids with their titles, and families.
func completeRules(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	prefix = strings.ToUpper(prefix)
	var out []string
	for _, f := range rule.Families() {
		if strings.HasPrefix(f.ID, prefix) {
			out = append(out, cobra.CompletionWithDesc(f.ID, f.Title))
		}
	}
	for _, r := range rule.All() {
		if strings.HasPrefix(r.ID, prefix) {
			out = append(out, cobra.CompletionWithDesc(r.ID, r.Title))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) printRules(rules []rule.Rule) error {
	g := a.Grid()
	for _, r := range rules {
		var marks []string
		if r.Off {
			marks = append(marks, "off")
		}
		if r.Weak {
			marks = append(marks, "weak")
		}
		if r.Fixable {
			marks = append(marks, "fix")
		}
		if r.Capability {
			marks = append(marks, "capability")
		}
		g.Add(console.Cell{Text: r.ID}, console.Cell{
			Text: r.Severity.String(),
			Role: console.SeverityRole(r.Severity),
		}, console.Cell{Text: strings.Join(marks, " ")},
			console.Cell{Text: r.Title})
	}
	w := bufio.NewWriter(a.Stdout)
	g.Write(w)
	return w.Flush()
}

func (a *app) explain(rules []rule.Rule) error {
	w := bufio.NewWriter(a.Stdout)
	p := a.Palette(a.Stdout)
	for i, r := range rules {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s\n%s\n\n%s\n", p.Bold(r.ID), p.Bold(r.Title), p.Dim("("+r.Kind()+")"), wrapped(r.Why, 78))
		if r.Off || r.Weak {
			fmt.Fprintf(w, "\nEnable the rule with: skillpm validate --enable %s\n", r.ID)
		}
		if r.Off && r.Capability {
			fmt.Fprintln(w, "List what skills can do with: skillpm validate --capabilities")
		}
		if r.Profile != "" {
			fmt.Fprintf(w, "\nThe examples are for the profile %s.\n", r.Profile)
		}
		example(w, p.Red("Bad example"), r.Bad)
		example(w, p.Green("Good example"), r.Good)
		if r.Fix != "" {
			fmt.Fprintf(w, "\n%s\n%s\n", p.Bold("How to fix the finding"), indented(wrapped(r.Fix, 74)))
		}
		fmt.Fprintf(w, "\n%s\n%s\n", p.Bold("How to suppress the finding, with a reason"), indented(suppressing(r)))
		if !rule.IsTeamPattern(r.ID) {
			fmt.Fprintf(w, "\n%s\n", p.Dim(render.RuleURI(r.ID)))
		}
	}
	return w.Flush()
}

// example prints an example, with file names if it has several files.
func example(w io.Writer, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(w, "\n%s\n", title)
	for i, f := range rule.Files(text) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if f.Path != "" {
			head := "    == " + rule.Visible(f.Path)
			if about := f.About(); about != "" {
				head += " (" + about + ")"
			}
			fmt.Fprintln(w, head)
		}
		if f.Text != "" {
			fmt.Fprintln(w, indented(strings.TrimSuffix(rule.Visible(f.Text), "\n")))
		}
	}
}

// suppressing describes how to suppress a finding of a rule: with a comment for the line or the file, or in the
// project's settings.
func suppressing(r rule.Rule) string {
	open, end := "<!-- ", " -->"
	switch r.Family() {
	case "FM", "SCR", "PACK":
		open, end = "# ", ""
	}
	settings := "in skillpm.yaml\n\n" +
		"validate:\n  rules: {ID: off}\n  ignore:\n    - {path: \"skills/x/**\", rules: [ID], reason: \"why\"}"
	if r.Family() != "SUP" { // comments cannot suppress findings about comments
		settings = open + "skillpm-ignore ID: why" + end + "       on the same or the previous line\n" +
			open + "skillpm-ignore-file ID: why" + end + "  for the whole file\n\nor " + settings
	}
	return strings.ReplaceAll(settings, "ID", r.ID)
}

// indented indents non-empty lines by four spaces.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// wrapped wraps text at up to width characters.
func wrapped(text string, width int) string {
	var b strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		n := console.Cells([]rune(word))
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
