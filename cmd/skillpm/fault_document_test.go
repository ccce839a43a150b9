package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testsOf returns the text of all tests of a package, "" if there are none.
func testsOf(t testing.TB, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(data)
	}
	return text.String()
}

// TestReliabilityDocument proves that every test that docs/reliability.md names is there, and so is every case of it that the
// document names in quotes behind it.
func TestReliabilityDocument(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:pkg|cmd)/[a-z/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`|`(testdata/script/[a-z_]+\\.txtar)`|“([^”]+)”")
	tests, cases := 0, 0
	for n, line := range strings.Split(string(data), "\n") {
		text := ""
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			switch {
			case m[3] != "":
				if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(m[3]))); err != nil {
					t.Errorf("line %d: there is no %s", n+1, m[3])
				}
				text = ""
			case m[4] == "":
				tests++
				if text = testsOf(t, m[1]); !strings.Contains(text, "\nfunc "+m[2]+"(") {
					t.Errorf("line %d: %s has no %s", n+1, m[1], m[2])
				}
			default:
				cases++
				if !strings.Contains(text, `"`+m[4]+`"`) {
					t.Errorf("line %d: the test before it has no case %q", n+1, m[4])
				}
			}
		}
	}
	if tests < 100 || cases < 50 {
		t.Errorf("%d tests and %d cases are named", tests, cases)
	}
}
