package e2e

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rows are the behaviors that docs/dev/systems.md covers: their number for each system.
var rows = []struct {
	system string
	count  int
}{{"P", 11}, {"O", 26}, {"T", 4}, {"K", 8}, {"D", 7}, {"S", 3}, {"M", 6}}

// TestCompatibilityDocument proves that both tables of docs/dev/systems.md have every row once, that the commands, Go
// names, and tests that a row names exist, and that each of these tests names its row: in its name, in its doc comment,
// or in its body. A row without a test is marked as missing.
func TestCompatibilityDocument(t *testing.T) {
	isRow := regexp.MustCompile(`^\| ([A-Z][0-9]+) \|`)
	left := map[string]bool{}
	for _, r := range rows {
		for i := range r.count {
			left[fmt.Sprintf("%s%d", r.system, i+1)] = true
		}
	}
	shown := map[string]bool{}
	page := readDocument(t, "dev/systems.md")
	tests := slices.Index(page, "## Tests")
	if tests < 0 {
		t.Fatal("the page has no section Tests")
	}
	for i, line := range page[:tests] {
		if m := isRow.FindStringSubmatch(line); m != nil {
			shown[m[1]] = true
			checkCommands(t, m[1], line, i+1)
		}
	}
	for i, line := range page[tests:] {
		m := isRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if !left[m[1]] {
			t.Errorf("line %d: %s is duplicated, or is no row", i+1, m[1])
		}
		if !shown[m[1]] {
			t.Errorf("line %d: the users' table does not have %s", i+1, m[1])
		}
		delete(left, m[1])
		checkRow(t, m[1], line, i+1)
	}
	for row := range left {
		t.Errorf("%s is missing", row)
	}
}

func checkRow(t *testing.T, row, line string, number int) {
	t.Helper()
	named := regexp.MustCompile(`(?:^|Test|[^A-Za-z])` + row + `(?:[^0-9]|$)`)
	tests := proofs(line, number)
	for _, p := range tests {
		if text := p.check(t); text != "" && !named.MatchString(text) {
			t.Errorf("line %d: %s%s does not say that it proves %s", number, p.test, p.script, row)
		}
	}
	if len(tests) == 0 && !strings.Contains(line, "not yet") {
		t.Errorf("line %d: nothing proves %s", number, row)
	}
	for _, m := range regexp.MustCompile("`(pkg/[a-z0-9/]+)\\.([A-Za-z.]+)`").FindAllStringSubmatch(line, -1) {
		if !strings.HasPrefix(m[2], "Test") && !strings.HasPrefix(m[2], "Fuzz") && !strings.HasPrefix(m[2], "Example") {
			checkName(t, m[1], m[2], number)
		}
	}
}

// checkCommands checks that the commands that a row of the users' page names exist.
func checkCommands(t *testing.T, row, line string, number int) {
	t.Helper()
	if cells := strings.Split(line, " | "); len(cells) != 3 {
		t.Errorf("line %d: %s has %d cells", number, row, len(cells))
	}
	for _, m := range regexp.MustCompile("`skillpm ([a-z]+)( [a-z]+)?").FindAllStringSubmatch(line, -1) {
		checkCommand(t, m[1], strings.TrimSpace(m[2]), number)
	}
}

// checkCommand checks that a command's page exists. The second word is a subcommand or an argument.
func checkCommand(t *testing.T, name, sub string, number int) {
	t.Helper()
	page, err := os.ReadFile(inRepository("docs/reference/commands/skillpm_" + name + ".md"))
	if err != nil {
		t.Errorf("line %d: there is no command %s", number, name)
	} else if text := string(page); sub != "" && strings.Contains(text, "skillpm_"+name+"_") && !strings.Contains(text, "skillpm_"+name+"_"+sub+".md") {
		t.Errorf("line %d: %s has no command %s", number, name, sub)
	}
}

// checkName checks that a package has an exported name, or a method or field of one.
func checkName(t *testing.T, dir, name string, number int) {
	t.Helper()
	pattern := `(?m)^(?:func |type |const |var |\t)` + name + `\b`
	if of, member, ok := strings.Cut(name, "."); ok {
		pattern = `(?m)^func \(\w* ?\*?` + of + `\) ` + member + `\(|^type ` + of + ` (?:struct|interface) \{(?:.*\n)*?.*\b` + member + `\b`
	}
	if !regexp.MustCompile(pattern).MatchString(strings.Join(sources(t, dir, "*.go"), "")) {
		t.Errorf("line %d: %s has no %s", number, dir, name)
	}
}
