package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/commands")

// TestReference holds docs/commands to the commands.
func TestReference(t *testing.T) {
	kept := filepath.Join("..", "..", "..", "..", "docs", "commands")
	if *update {
		if err := os.RemoveAll(kept); err != nil {
			t.Fatal(err)
		}
		if err := run(kept, writeMarkdown); err != nil {
			t.Fatal(err)
		}
	}
	fresh := t.TempDir()
	if err := run(fresh, writeMarkdown); err != nil {
		t.Fatal(err)
	}
	want, got := files(t, fresh), files(t, kept)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("docs/commands/%s is out of date: go test ./cmd/skillpm/internal/gendocs -update", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/commands/%s documents no command", name)
		}
	}
}

func TestReleaseExtras(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir, writeMan); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, writeCompletions); err != nil {
		t.Fatal(err)
	}
	got := files(t, dir)
	for _, name := range []string{"skillpm.1", "skillpm-install.1", "skillpm.bash", "skillpm.fish", "skillpm.zsh", "skillpm.ps1"} {
		if got[name] == "" {
			t.Errorf("%s was not written", name)
		}
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		texts[e.Name()] = string(data)
	}
	return texts
}
