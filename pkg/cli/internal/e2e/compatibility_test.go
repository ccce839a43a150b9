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

// TestCompatibilityDocument proves that the tables of docs/dev/systems.md have every row once, that the commands that a
// row names exist, and that a test of each row names it: in its name or its comment.
func TestCompatibilityDocument(t *testing.T) {
	isRow := regexp.MustCompile(`^\| ([A-Z][0-9]+) \|`)
	left := map[string]bool{}
	for _, r := range rows {
		for i := range r.count {
			left[fmt.Sprintf("%s%d", r.system, i+1)] = true
		}
	}
	named := rowsOfTests(t)
	for i, line := range readDocument(t, "dev/systems.md") {
		m := isRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if !left[m[1]] {
			t.Errorf("line %d: %s is duplicated, or is no row", i+1, m[1])
		}
		if !named[m[1]] {
			t.Errorf("line %d: no test names %s", i+1, m[1])
		}
		delete(left, m[1])
		checkCommands(t, m[1], line, i+1)
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
