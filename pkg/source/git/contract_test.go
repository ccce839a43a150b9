package git_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// TestContract checks M2: the contract of every source, over smart HTTP with and without filters, with the git binary,
// with a subdirectory, and for a repository on disk. TestContractInFull has the rest of the hostile files.
func TestContract(t *testing.T) {
	for name, newSource := range contractSources() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "http" || name == "file" {
				sourcetest.Run(t, newSource)
			} else {
				sourcetest.RunSample(t, newSource)
			}
		})
	}
}

// contractSources returns how to make each kind of source.
func contractSources() map[string]sourcetest.Make {
	source := func(prefix string, o git.Options, ref func(t *testing.T, dir string) string) sourcetest.Make {
		return func(t *testing.T, files map[string]sourcetest.File) (sourcetest.Source, pack.Ref) {
			dir := t.TempDir()
			makeRepository(t, dir, prefix, files)
			return newClient(t, o), parse(t, ref(t, dir))
		}
	}
	serve := func(suffix string, options ...gittest.Option) func(*testing.T, string) string {
		return func(t *testing.T, dir string) string {
			return "git+" + gittest.Serve(t, dir, options...) + "/o/r.git" + suffix
		}
	}
	return map[string]sourcetest.Make{
		"http":         source("", git.Options{}, serve("#v1.0.0")),
		"subdirectory": source("packs/tools/", git.Options{}, serve("//packs/tools")),
		"filter":       source("", git.Options{}, serve("", gittest.WithFilter())),
		"program":      source("", git.Options{Program: "git"}, serve("", gittest.WithFilter())),
		"file": source("", git.Options{}, func(_ *testing.T, dir string) string {
			return "git+file://" + dir + "/o/r.git"
		}),
	}
}

// makeRepository creates o/r.git with files below a prefix, tagged v1.0.0.
func makeRepository(t *testing.T, dir, prefix string, files map[string]sourcetest.File) {
	t.Helper()
	commit := make(gittest.Files)
	for path, f := range files {
		commit[prefix+path] = gittest.File{Data: f.Data, Executable: f.Executable, Link: f.Link}
	}
	r := gittest.New(t, dir, "o/r.git")
	r.Tag("v1.0.0", r.Commit(commit))
}
