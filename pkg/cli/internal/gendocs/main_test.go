package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/reference/commands, docs/reference/rules, and schema/output")

// TestReference compares docs/reference/commands with the commands, docs/reference/rules with the rules, and
// schema/output with the types of the documents.
func TestReference(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	for name, write := range map[string]func(string) error{
		"docs/reference/commands": func(dir string) error { return run(dir, writeMarkdown) },
		"docs/reference/rules":    writeRules,
		"schema/output":           func(dir string) error { return writeSchemas(root, dir) },
	} {
		t.Run(name, func(t *testing.T) {
			kept := filepath.Join(root, filepath.FromSlash(name))
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
			t.Errorf("%s/%s is out of date: go test ./pkg/cli/internal/gendocs -update", dir, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s/%s documents nothing", dir, name)
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

// TestMarkers proves that the code writes every marker that the packaging uses.
func TestMarkers(t *testing.T) {
	dir := t.TempDir()
	if err := writeMarkers(dir); err != nil {
		t.Fatal(err)
	}
	got := files(t, dir)
	root := filepath.Join("..", "..", "..", "..")
	used := 0
	for _, file := range []string{".goreleaser.yaml", ".github/container/Dockerfile"} {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		marker := regexp.MustCompile(`dist-extra/installed-by/([a-z]+)|installed-by\\" -Value '([a-z]+)'|echo ([a-z]+) \| install`)
		for _, match := range marker.FindAllStringSubmatch(string(data), -1) {
			used++
			if name := strings.Join(match[1:], ""); got[name] != name+"\n" {
				t.Errorf("%s uses the marker %s, which contains %q", file, name, got[name])
			}
		}
	}
	if used < 7 { // deb, rpm, apk, the container and its context, Scoop, and the AUR
		t.Errorf("only %d markers are used", used)
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
