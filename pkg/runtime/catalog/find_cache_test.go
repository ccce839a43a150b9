package catalog_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

const searched = `
-- home/.skillpm/skills/invoices/SKILL.md --
---
name: invoices
description: Reads bills.
---
Add up the ledger.
-- home/.skillpm/skills/notes/SKILL.md --
---
name: notes
description: Keeps a diary.
---
Write to scripts/daily_journal.py.
`

// searches opens the catalog and returns the skills that a task finds, the best first.
func (w *fixture) searches(task string) (names []string) {
	w.Helper()
	c, err := catalog.Open(context.Background(), w.options)
	if err != nil {
		w.Fatal(err)
	}
	f, err := c.Finder()
	if err != nil {
		w.Fatal(err)
	}
	defer f.Close()
	found, err := f.Find(task)
	if err != nil {
		w.Fatal(err)
	}
	for _, m := range found.Matches {
		if err := found.Explain(&m); err != nil || len(m.Words) == 0 {
			w.Errorf("%q: %+v, %v", task, m, err)
		}
		names = append(names, m.Name)
	}
	return names
}

// findFiles returns the files of search indexes.
func (w *fixture) findFiles() []string {
	w.Helper()
	list, err := filepath.Glob(filepath.Join(w.options.Cache, "*.find"))
	if err != nil {
		w.Fatal(err)
	}
	return list
}

func (w *fixture) wantFound(task string, want ...string) {
	w.Helper()
	if got := w.searches(task); !slices.Equal(got, want) {
		w.Errorf("%q finds %v, want %v", task, got, want)
	}
}

// TestO3Instructions checks that instructions, and the files that they mention, are searched, with and without a cache.
func TestO3Instructions(t *testing.T) {
	w := newFixture(t, "omniforge", searched)
	for _, w.options.Cache = range []string{"", w.path("cache")} {
		w.wantFound("ledger", "invoices")
		w.wantFound("the daily journal", "notes")
		w.wantFound("nothing of this")
	}
}

// TestFindCache checks that the index is reused until a skill changes in any way, that only its user can read it, and
// that it replaces what the skills were before.
func TestFindCache(t *testing.T) {
	w := newFixture(t, "omniforge", searched)
	w.options.Cache = w.path("cache")
	w.wantFound("ledger", "invoices")
	files := w.findFiles()
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
	w.wantFound("ledger", "invoices")
	if again, err := os.Stat(files[0]); err != nil || !os.SameFile(info, again) || len(w.findFiles()) != 1 {
		t.Errorf("the index was written again: %v", err)
	}
	at := w.path("home/.skillpm/skills/invoices/SKILL.md")
	before, err := os.Stat(at)
	if err != nil {
		t.Fatal(err)
	}
	const head = "---\nname: invoices\ndescription: Reads bills.\n---\n"
	for _, step := range []struct {
		what string
		do   func() error
		task string
		want []string
	}{
		{"other instructions of one size and time", func() error {
			w.write("home/.skillpm/skills/invoices/SKILL.md", head+"Add up the pepper.\n")
			return os.Chtimes(at, before.ModTime(), before.ModTime())
		}, "pepper ledger", []string{"invoices"}},
		{"the old ones are not found", func() error { return nil }, "ledger", nil},
		{"a new skill", func() error {
			w.write("home/.skillpm/skills/b/SKILL.md", "---\nname: b\ndescription: x\n---\nA zebra.\n")
			return nil
		}, "zebra", []string{"b"}},
		{"a renamed skill", func() error {
			return os.Rename(w.path("home/.skillpm/skills/b"), w.path("home/.skillpm/skills/c"))
		}, "zebra", []string{"b"}},
		{"a removed skill", func() error { return os.RemoveAll(w.path("home/.skillpm/skills/c")) }, "zebra", nil},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := w.searches(step.task); !slices.Equal(got, step.want) {
			t.Errorf("%s: %q finds %v, want %v", step.what, step.task, got, step.want)
		}
	}
}

// TestFindCacheDamaged checks that an index with any damage is replaced, and that one that can't be written or is a
// directory does not prevent a search.
func TestFindCacheDamaged(t *testing.T) {
	w := newFixture(t, "omniforge", searched)
	w.options.Cache = w.path("cache")
	w.wantFound("ledger", "invoices")
	path := w.findFiles()[0]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(whole) + 2 {
		data := bytes.Clone(whole)
		switch i {
		case len(whole):
			data = data[:len(data)/2]
		case len(whole) + 1:
			data = nil
		default:
			data[i] ^= 0x40
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		w.wantFound("ledger", "invoices")
	}
	w.wantFound("ledger diary", "notes", "invoices")
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, whole) {
		t.Errorf("the index was not repaired: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.wantFound("ledger", "invoices")
	w.write("file", "")
	w.options.Cache = w.path("file")
	w.wantFound("ledger", "invoices")
}

// TestFindCacheLimit checks that old indexes are removed, and no other files.
func TestFindCacheLimit(t *testing.T) {
	w := newFixture(t, "omniforge", searched)
	w.options.Cache = w.path("cache")
	for i := range 12 {
		w.write("home/.skillpm/skills/notes/SKILL.md", fmt.Sprintf("---\nname: notes\ndescription: Keeps %d.\n---\n", i))
		w.wantFound("ledger", "invoices")
	}
	if n := len(w.findFiles()); n != 8 {
		t.Errorf("%d files", n)
	}
	if n := len(w.indexFiles()); n != 9 {
		t.Errorf("%d files with the index of the frontmatter", n)
	}
}
