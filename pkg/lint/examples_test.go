package lint_test

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// linted returns the rules of this package. pkg/publish.TestPolicyRules and pkg/publish.TestBudgetRule check the examples
// of the others.
func linted() []rule.Rule {
	return slices.DeleteFunc(rule.All(), func(r rule.Rule) bool { return r.Family() == "POL" || r.ID == rule.OverBudget })
}

// TestExamples checks that every rule reports its bad example and not its good one.
func TestExamples(t *testing.T) {
	for _, r := range linted() {
		t.Run(r.ID, func(t *testing.T) {
			if r.Bad == "" || r.Good == "" {
				t.Fatal("it has no examples")
			}
			bad, good := examine(t, r, r.Bad), examine(t, r, r.Good)
			if !slices.Contains(ids(bad), r.ID) || slices.Contains(ids(good), r.ID) {
				t.Errorf("the bad example gives:\n  %s\nthe good one:\n  %s", strings.Join(bad, "\n  "), strings.Join(good, "\n  "))
			}
		})
	}
}

// TestGoodExamples checks that the good examples have no other findings, except capability notes.
func TestGoodExamples(t *testing.T) {
	for _, r := range rule.All() {
		for _, found := range examine(t, r, r.Good) {
			id := strings.Fields(found)[1]
			other, _ := rule.Lookup(id)
			if !other.Capability {
				t.Errorf("the good example of %s gives %s", r.ID, found)
			}
		}
	}
}

// unclosed stands for an interpreter: it reports parentheses that are not closed. Package interpreter checks the examples
// with real ones.
func unclosed(_ string, text []byte) *lint.ScriptProblem {
	if strings.Count(string(text), "(") == strings.Count(string(text), ")") {
		return nil
	}
	return &lint.ScriptProblem{Line: 1, Message: "a parenthesis is not closed"}
}

// examine checks an example with its rule's profile and the rule enabled.
func examine(t *testing.T, r rule.Rule, example string) []string {
	t.Helper()
	o := lint.Options{Parallel: 1, Now: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC), CheckScript: unclosed}
	if r.Off || r.Weak {
		o.Settings.Levels = []lint.Level{{Rules: r.ID, Own: true}}
	}
	if r.Profile != "" {
		p, err := profile.Lookup(r.Profile)
		if err != nil {
			t.Fatal(err)
		}
		o.Profiles = []*profile.Profile{p}
	}
	report, err := lint.Run(context.Background(), exampleTree(t, example), []string{"."}, o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range report.Findings {
		if f.Rule == r.ID && example == r.Bad && f.Fixable != r.Fixable {
			t.Errorf("the bad example is mended by --fix: %v; the table says %v", f.Fixable, r.Fixable)
		}
		out = append(out, fmt.Sprintf("%s:%d:%d %s %s", f.Path, f.Line, f.Column, f.Rule, f.Message))
	}
	return out
}

func ids(findings []string) []string {
	var out []string
	for _, f := range findings {
		out = append(out, strings.Fields(f)[1])
	}
	return out
}

var (
	skillName = regexp.MustCompile(`(?m)^name: +"?([A-Za-z0-9_-]+)`)
	numbers   = regexp.MustCompile(`\{(\d+)\.\.(\d+)\}`)
)

// exampleTree returns the files of an example.
func exampleTree(t *testing.T, example string) fs.FS {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, f := range rule.Files(example) {
		if f.Path == "" {
			dir := "deploy"
			if m := skillName.FindStringSubmatch(f.Text); m != nil {
				dir = m[1]
			}
			f.Path = path.Join(dir, "SKILL.md")
		}
		file := &fstest.MapFile{Data: []byte(f.Text), Mode: 0o644}
		if f.Executable {
			file.Mode = 0o755
		}
		if f.Target != "" {
			file.Mode, file.Data = fs.ModeSymlink|0o777, []byte(f.Target)
		}
		for i := 0; len(file.Data) < f.MiB<<20; i++ {
			file.Data = fmt.Appendf(file.Data, "Line %d of a file that is much too large to read.\n", i)
		}
		for _, name := range expand(t, f.Path) {
			fsys[name] = file
		}
	}
	return fsys
}

// expand returns the names that a path with {1..9} stands for.
func expand(t *testing.T, name string) []string {
	t.Helper()
	at := numbers.FindStringSubmatchIndex(name)
	if at == nil {
		return []string{name}
	}
	first, err := strconv.Atoi(name[at[2]:at[3]])
	if err != nil {
		t.Fatal(err)
	}
	last, err := strconv.Atoi(name[at[4]:at[5]])
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := first; i <= last; i++ {
		out = append(out, name[:at[0]]+strconv.Itoa(i)+name[at[1]:])
	}
	return out
}
