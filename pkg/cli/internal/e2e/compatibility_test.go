package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rows are the behaviors that docs/dev/systems.md covers: their number for each system.
var rows = []struct {
	system string
	count  int
}{{"P", 11}, {"O", 26}, {"T", 4}, {"K", 8}, {"D", 7}, {"S", 3}, {"M", 6}}

// TestCompatibilityDocument proves that the lists of docs/dev/systems.md have every row once, that the commands that a
// row names exist, and that a test of each row names it: in its name or its comment.
func TestCompatibilityDocument(t *testing.T) {
	isRow := regexp.MustCompile(`(?m)^- \*\*([A-Z][0-9]+)\*\*: .*(?:\n  .*)*`)
	left := map[string]bool{}
	for _, r := range rows {
		for i := range r.count {
			left[fmt.Sprintf("%s%d", r.system, i+1)] = true
		}
	}
	named := rowsOfTests(t)
	page := strings.Join(readDocument(t, "dev/systems.md"), "\n")
	for _, m := range isRow.FindAllStringSubmatch(page, -1) {
		if !left[m[1]] {
			t.Errorf("%s is duplicated, or is no row", m[1])
		}
		if !named[m[1]] {
			t.Errorf("no test names %s", m[1])
		}
		delete(left, m[1])
		checkCommands(t, m[1], m[0])
	}
	for row := range left {
		t.Errorf("%s is missing", row)
	}
}

// rowsOfTests returns the rows that the names and the comments of tests and scripts contain.
func rowsOfTests(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^((?://.*\n)*)func ((?:Test|Fuzz|Example)\w*)\(`)
	comment := regexp.MustCompile(`(?m)^()(#.*)$`)
	list, row := regexp.MustCompile(`\b(?:Test)?(?:[A-Z][0-9]+)+`), regexp.MustCompile(`[A-Z][0-9]+`)
	found := map[string]bool{}
	add := func(path string, mark *regexp.Regexp) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mark.FindAllStringSubmatch(string(data), -1) {
			for _, several := range list.FindAllString(m[1]+m[2], -1) {
				for _, r := range row.FindAllString(several, -1) {
					found[r] = true
				}
			}
		}
	}
	err := filepath.WalkDir(inRepository("pkg"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			add(path, function)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(inRepository("testdata/script/*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		add(path, comment)
	}
	return found
}

// checkCommands checks that the commands that a row names exist.
func checkCommands(t *testing.T, row, text string) {
	t.Helper()
	for _, m := range regexp.MustCompile("`skillpm\\s([a-z]+)(\\s[a-z]+)?").FindAllStringSubmatch(text, -1) {
		checkCommand(t, row, m[1], strings.TrimSpace(m[2]))
	}
}

// checkCommand checks that a command's page exists. The second word is a subcommand or an argument.
func checkCommand(t *testing.T, row, name, sub string) {
	t.Helper()
	page, err := os.ReadFile(inRepository("docs/reference/commands/skillpm_" + name + ".md"))
	if err != nil {
		t.Errorf("%s: there is no command %s", row, name)
	} else if text := string(page); sub != "" && strings.Contains(text, "skillpm_"+name+"_") &&
		!strings.Contains(text, "skillpm_"+name+"_"+sub+".md") {
		t.Errorf("%s: %s has no command %s", row, name, sub)
	}
}
