package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// writeRules writes a page for each rule, a table of all rules, and one of the names of tools, which rules check.
func writeRules(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range rule.All() {
		if err := os.WriteFile(filepath.Join(dir, r.ID+".md"), []byte(rulePage(r)), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tools.md"), []byte(toolsTable()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "README.md"), []byte(rulesTable()), 0o644)
}

func toolsTable() string {
	var b strings.Builder
	b.WriteString("# Names of tools\n\n" +
		"For skill authors. The agents' names for the tools of `allowed-tools` and `disallowed-tools`. All names of a tool\n" +
		"are equivalent. [Agents](../agents.md#tool-restrictions) explains patterns.\n\n" +
		"| tool | argument | other names |\n|---|---|---|\n")
	for _, row := range tool.Table() {
		kind := row.Kind
		if row.With != "" {
			kind = "allowed together with `" + row.With + "`"
			if row.Whole {
				kind = "allowed if `" + row.With + "` is allowed without a pattern"
			}
		}
		names := ""
		if len(row.Names) > 0 {
			names = "`" + strings.Join(row.Names, "` `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", row.Name, kind, names)
	}
	b.WriteString("| `Edit`, `Write` | the files of a patch | `apply_patch` `applyPatch` `ApplyPatch` `patch` |\n" +
		"| `Read`, `Edit`, `Write` | file, depending on `command` | `str_replace_editor` `str_replace_based_edit_tool` " +
		"`text_editor` `developer__text_editor` `fs_write` |\n")
	return b.String()
}

func rulesTable() string {
	var b strings.Builder
	b.WriteString("# Rules\n\n" +
		"For skill authors. All findings of `skillpm validate`. `skillpm explain ID` explains a rule in the terminal.\n\n" +
		"The severity is that of the worst case. Marks of rules:\n\n" +
		"| mark | meaning |\n" +
		"| --- | --- |\n" +
		"| off | reports only if it is enabled |\n" +
		"| weak | reports only errors, unless it is enabled; other findings count in the score (SEC400) |\n" +
		"| fix | `skillpm validate --fix` fixes it in most cases |\n" +
		"| capability | describes what a skill can do; not a defect, so `--strict` does not make it an error |\n")
	for _, f := range rule.Families() {
		fmt.Fprintf(&b, "\n## %s: %s\n\n| id | severity | | what it finds |\n|---|---|---|---|\n", f.ID, f.Title)
		for _, r := range rule.All() {
			if r.Family() == f.ID {
				fmt.Fprintf(&b, "| [%[1]s](%[1]s.md) | %s | %s | %s |\n", r.ID, r.Severity, marks(r), r.Title)
			}
		}
	}
	return b.String()
}

func marks(r rule.Rule) string {
	var words []string
	for _, mark := range []struct {
		set  bool
		word string
	}{{r.Off, "off"}, {r.Weak, "weak"}, {r.Fixable, "fix"}, {r.Capability, "capability"}} {
		if mark.set {
			words = append(words, mark.word)
		}
	}
	return strings.Join(words, ", ")
}

func rulePage(r rule.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n**%s.**", r.ID, r.Title, capital(r.Severity.String()))
	if r.Off {
		fmt.Fprintf(&b,
			" It is off by default. Enable it with `skillpm validate --enable %s`, or `rules: {%s: %s}` in skillpm.yaml.",
			r.ID, r.ID, r.Severity)
	}
	if r.Weak {
		what := "It is"
		if r.Severity == diag.SeverityError {
			what = "Findings below an error are"
		}
		fmt.Fprintf(&b, " %s off by default, because one alone is often wrong. Each counts in the score of "+
			"[SEC400](SEC400.md). Enable the rule with `skillpm validate --enable %s`.", what, r.ID)
	}
	if r.Fixable {
		b.WriteString(" `skillpm validate --fix` fixes it in most cases.")
	}
	if r.Capability {
		b.WriteString(" It describes what the skill can do and is not a defect.")
		if r.Off {
			b.WriteString(" `skillpm validate --capabilities` lists what skills can do.")
		}
	}
	fmt.Fprintf(&b, "\n\n%s\n", r.Why)
	if r.Profile != "" {
		fmt.Fprintf(&b, "\nThe examples are for `--profile %s`.\n", r.Profile)
	}
	example(&b, "Bad", r.Bad)
	example(&b, "Good", r.Good)
	fmt.Fprintf(&b, "\n## How to fix it\n\n%s.\n", capital(r.Fix))
	return b.String()
}

// example writes the files of an example, with invisible characters escaped.
func example(b *strings.Builder, title, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, "\n## %s\n", title)
	for _, f := range rule.Files(text) {
		if f.Path != "" {
			fmt.Fprintf(b, "\n`%s`", rule.Visible(f.Path))
			if about := f.About(); about != "" {
				fmt.Fprintf(b, " (%s)", about)
			}
			b.WriteString("\n")
		}
		visible := rule.Visible(f.Text)
		if visible == "" {
			continue
		}
		if !strings.HasSuffix(visible, "\n") {
			visible += "\n"
		}
		fence := fence(visible)
		fmt.Fprintf(b, "\n%s%s\n%s%s\n", fence, language(f), visible, fence)
	}
}

// fence returns a fence that is longer than any in the text.
func fence(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// language returns the language of a file for a code block.
func language(f rule.File) string {
	switch path.Ext(f.Path) {
	case "", ".md":
		if f.Path == "" || path.Ext(f.Path) == ".md" {
			return "markdown"
		}
	case ".sh":
		return "sh"
	case ".yaml", ".yml":
		return "yaml"
	case ".json":
		return "json"
	}
	return "text"
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
