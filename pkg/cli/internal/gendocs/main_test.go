package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/commands and docs/rules")

// TestReference holds docs/commands to the commands, and docs/rules to the rules.
func TestReference(t *testing.T) {
	for name, write := range map[string]func(string) error{
		"commands": func(dir string) error { return run(dir, writeMarkdown) },
		"rules":    writeRules,
	} {
		t.Run(name, func(t *testing.T) {
			kept := filepath.Join("..", "..", "..", "..", "docs", name)
			if *update {
				if err := os.RemoveAll(kept); err != nil {
					t.Fatal(err)
				}
				if err := write(kept); err != nil {
					t.Fatal(err)
				}
			}
			fresh := t.TempDir()
			if err := write(fresh); err != nil {
				t.Fatal(err)
			}
			compare(t, name, files(t, kept), files(t, fresh))
		})
	}
}

func compare(t *testing.T, dir string, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("docs/%s/%s is out of date: go test ./pkg/cli/internal/gendocs -update", dir, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/%s/%s documents nothing", dir, name)
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
