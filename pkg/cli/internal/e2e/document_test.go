package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// proof is a test that a document names, and its cases that follow in quotes.
type proof struct {
	line   int
	dir    string // of the package
	test   string // "" for a script
	script string
}

var proofMark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`((?:pkg|cmd)(?:/[a-z0-9/-]+)?)\\.((?:Test|Fuzz|Example)[A-Za-z0-9_]*)`|`(testdata/script/[a-z_0-9]+\\.txtar)`")
})

// proofs returns the tests that a line of a document names.
func proofs(line string, number int) []proof {
	var all []proof
	for _, m := range proofMark().FindAllStringSubmatch(line, -1) {
		all = append(all, proof{line: number, dir: m[1], test: m[2], script: m[3]})
	}
	return all
}

// check proves that the test exists.
func (p proof) check(t *testing.T) {
	t.Helper()
	if p.script != "" {
		if _, err := os.Stat(inRepository(p.script)); err != nil {
			t.Errorf("line %d: there is no %s", p.line, p.script)
		}
		return
	}
	texts := sources(t, p.dir, "*_test.go")
	if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "\nfunc "+p.test+"(") }) {
		t.Errorf("line %d: %s has no %s", p.line, p.dir, p.test)
	}
}

// sources returns the texts of the files of a package whose names match a pattern.
func sources(t *testing.T, dir, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(inRepository(dir), pattern))
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, len(files))
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(data)
	}
	return texts
}

func inRepository(path string) string {
	return filepath.Join("..", "..", "..", "..", filepath.FromSlash(path))
}

func readDocument(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(inRepository("docs/" + name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(data), "\n")
}

// TestReliabilityDocument proves that every test that docs/dev/testing.md names exists.
func TestReliabilityDocument(t *testing.T) {
	tests := 0
	for i, line := range readDocument(t, "dev/testing.md") {
		for _, p := range proofs(line, i+1) {
			p.check(t)
			tests++
		}
	}
	if tests < 100 {
		t.Errorf("%d tests are named", tests)
	}
}
