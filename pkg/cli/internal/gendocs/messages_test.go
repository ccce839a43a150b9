package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/internal/environ"
)

// TestMessages proves that messages are on their line, and that patterns, tags, and examples of rules are left out.
func TestMessages(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	source := `package p

import "regexp"

var rx = regexp.MustCompile("a pattern for words")

type t struct {
	a string ` + "`json:\"a tag of a field\"`" + `
}

func f(name string) error {
	return errorf("cannot read %q: "+
		"it has %d lines").
		WithHint("rename " + name + " or remove it")
}

const help = ` + "`Reads one file.\n\n  an example of an indented line\n\nWrites another file.`" + `

var rule = r{Bad: "an example of bad text", Fix: "remove the other file"}
`
	put := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a/p.go", source)
	put("a/p_test.go", "package p\n\nvar x = \"the text of a test\"\n")
	put(".git/p.go", "package p\n\nvar x = \"the text of another program\"\n")
	if err := writeMessages(root, dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "a", "p.go.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]string{
		12: `- cannot read "NAME": it has 2 lines`,
		14: "- rename X or remove it",
		17: "Reads one file.",
		21: "Writes another file.",
		23: "- remove the other file",
	}
	for i, line := range strings.Split(string(page), "\n") {
		if line != want[i+1] {
			t.Errorf("line %d is %q, want %q", i+1, line, want[i+1])
		}
		delete(want, i+1)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v: want only a", entries, err)
	}
}

// TestListsAsCode proves that a list in a description is a block of code in Markdown.
func TestListsAsCode(t *testing.T) {
	cmd := cli.Command(environ.Process(""))
	cmd.Long = "It is one of\n  a  the first\n  b  the second\n\n  c  the third\nand more."
	listsAsCode(cmd)
	if want := "It is one of\n\n    a  the first\n    b  the second\n\n    c  the third\n\nand more."; cmd.Long != want {
		t.Errorf("%q, want %q", cmd.Long, want)
	}
}
