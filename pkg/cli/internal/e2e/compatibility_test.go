package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// rows are the behaviours that docs/compatibility.md accounts for: how many each system has.
var rows = []struct {
	system string
	count  int
}{{"P", 11}, {"O", 26}, {"T", 4}, {"K", 8}, {"D", 7}, {"S", 3}, {"M", 6}}

// TestCompatibilityDocument proves that docs/compatibility.md and docs/dev/compatibility.md have every row once; that
// the commands, the Go names and the tests that a row is shown by are there; and that each of these tests says which
// row it proves: in its name, in the comment above it or in itself. A row without a test says that it is not there yet.
func TestCompatibilityDocument(t *testing.T) {
	isRow := regexp.MustCompile(`^\| ([A-Z][0-9]+) \|`)
	left := map[string]bool{}
	for _, r := range rows {
		for i := range r.count {
			left[fmt.Sprintf("%s%d", r.system, i+1)] = true
		}
	}
	shown := map[string]bool{}
	for i, line := range readDocument(t, "compatibility.md") {
		if m := isRow.FindStringSubmatch(line); m != nil {
			shown[m[1]] = true
			checkCommands(t, m[1], line, i+1)
		}
	}
	for i, line := range readDocument(t, "dev/compatibility.md") {
		m := isRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if !left[m[1]] {
			t.Errorf("line %d: %s is there twice, or is no row", i+1, m[1])
		}
		if !shown[m[1]] {
			t.Errorf("line %d: docs/compatibility.md does not have %s", i+1, m[1])
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

// checkCommands looks for the commands that a row of the users' page names.
func checkCommands(t *testing.T, row, line string, number int) {
	t.Helper()
	if cells := strings.Split(line, " | "); len(cells) != 3 {
		t.Errorf("line %d: %s has %d cells", number, row, len(cells))
	}
	for _, m := range regexp.MustCompile("`skillpm ([a-z]+)( [a-z]+)?").FindAllStringSubmatch(line, -1) {
		checkCommand(t, m[1], strings.TrimSpace(m[2]), number)
	}
}

// checkCommand looks for a command's page. The second word is the name of one below it, or an argument.
func checkCommand(t *testing.T, name, sub string, number int) {
	t.Helper()
	page, err := os.ReadFile(inRepository("docs/commands/skillpm_" + name + ".md"))
	if err != nil {
		t.Errorf("line %d: there is no command %s", number, name)
	} else if text := string(page); sub != "" && strings.Contains(text, "skillpm_"+name+"_") && !strings.Contains(text, "skillpm_"+name+"_"+sub+".md") {
		t.Errorf("line %d: %s has no command %s", number, name, sub)
	}
}

// checkName looks for an exported name, or a method or field of one, in a package.
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
