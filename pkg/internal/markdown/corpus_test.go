package markdown

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus calls a function for every page of Markdown below the directory that SKILLPM_CORPUS names.
func corpus(tb testing.TB, visit func(name string, text []byte)) {
	tb.Helper()
	root := os.Getenv("SKILLPM_CORPUS")
	if root == "" {
		tb.Skip("SKILLPM_CORPUS names no directory")
	}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.EqualFold(filepath.Ext(name), ".md") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		visit(name, text)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// TestCorpus checks that real pages are read like goldmark reads them.
func TestCorpus(t *testing.T) {
	pages, left := 0, 0
	corpus(t, func(name string, text []byte) {
		difference, ok := compare(text)
		pages++
		if !ok {
			left++
			t.Logf("%s is left out", name)
		}
		if difference != "" {
			t.Errorf("%s: %.2000s", name, difference)
		}
	})
	t.Logf("%d pages, %d left out", pages, left)
}
