package main

import (
	"os"
	"strings"
	"testing"
)

// TestDocument proves that docs/dev/testing.md has every row.
func TestDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/dev/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if names, _, ok := strings.Cut(line, ": "); ok && strings.HasPrefix(line, "- `") {
			for i, name := range strings.Split(names, "`") {
				said[name] = said[name] || i%2 == 1
			}
		}
	}
	for _, r := range rows() {
		if !said[r.name] {
			t.Errorf("docs/dev/testing.md does not have the row %s", r.name)
		}
	}
}
