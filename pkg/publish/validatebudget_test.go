package publish_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/publish"
)

// overBudget validates files and returns the findings about budgets, as path:line severity message.
func overBudget(t *testing.T, files string, o publish.ValidateOptions) (found []string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range rule.Files(files) {
		at := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(f.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	report, err := newClient(t, dir).Validate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Rule == rule.OverBudget {
			found = append(found, fmt.Sprintf("%s:%d %s %s", f.Path, f.Line, f.Severity, f.Message))
		} else if f.Severity == diag.SeverityError {
			t.Errorf("besides: %+v", f)
		}
	}
	return found
}

// TestBudgetRule checks the examples of the rule about budgets.
func TestBudgetRule(t *testing.T) {
	r, _ := rule.Lookup(rule.OverBudget)
	for files, want := range map[string]int{r.Bad: 1, r.Good: 0} {
		if found := overBudget(t, files, publish.ValidateOptions{}); len(found) != want {
			t.Errorf("%q", found)
		}
	}
}

// TestBudgets checks which skills count, how the settings of rules apply, and where findings are.
func TestBudgets(t *testing.T) {
	skill := func(name, more string) string {
		return fmt.Sprintf("-- skills/%s/SKILL.md\n---\nname: %[1]s\ndescription: Does %[1]s with %s. Use when asked to.\n%s---\n\nDo it.\n",
			name, strings.Repeat("care ", 30), more)
	}
	two := skill("one", "") + skill("two", "")
	for _, test := range []struct {
		name, files string
		o           publish.ValidateOptions
		want        []string // parts of the findings
	}{
		{
			"of the manifest", "-- skillpm.yaml\n# ours\nbudget:\n  claude: 60\n  codex: 1000\n" + two,
			publish.ValidateOptions{},
			[]string{"skillpm.yaml:3 error the list of 2 skills costs Claude Code about 86 tokens; the budget is 60; the longest descriptions: one (3"},
		},
		{"of the command line", two, publish.ValidateOptions{Budget: 60}, []string{"skills/one/SKILL.md:0 error the list of 2 skills costs an agent about"}},
		{"the command line wins", "-- skillpm.yaml\nbudget: {agents: 1}\n" + two, publish.ValidateOptions{Budget: 1000}, nil},
		{
			"a skill only for users", "-- skillpm.yaml\nbudget: {claude-code: 60}\n" + skill("one", "") + skill("two", "disable-model-invocation: true\n"),
			publish.ValidateOptions{Profiles: []string{"claude-code"}},
			nil,
		},
		{"one skill", "-- skillpm.yaml\nbudget: {claude-code: 60}\n" + two, publish.ValidateOptions{Paths: []string{"skills/one/SKILL.md"}}, nil},
		{"off", "-- skillpm.yaml\nbudget: {claude-code: 60}\nvalidate: {rules: {PACK015: off}}\n" + two, publish.ValidateOptions{}, nil},
		{"a warning", "-- skillpm.yaml\nbudget: {claude-code: 60}\nvalidate: {rules: {PACK015: warning}}\n" + two, publish.ValidateOptions{}, []string{" warning "}},
		{"disabled", "-- skillpm.yaml\nbudget: {claude-code: 60}\n" + two, publish.ValidateOptions{Disable: []string{"PACK"}}, nil},
		{"no settings", "-- skillpm.yaml\nbudget: {claude-code: 60}\n" + two, publish.ValidateOptions{NoConfig: true}, nil},
	} {
		found := overBudget(t, test.files, test.o)
		if len(found) != len(test.want) {
			t.Errorf("%s: %q", test.name, found)
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(found[i], want) {
				t.Errorf("%s: %q", test.name, found[i])
			}
		}
	}
}
