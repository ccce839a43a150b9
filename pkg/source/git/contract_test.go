package git_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/gittest"
	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// TestContract checks M2: the contract of every source, over smart HTTP with and without filters, with the git binary,
// with a subdirectory, and for a repository on disk.
func TestContract(t *testing.T) {
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		sourcetest.Run(t, func(t *testing.T, files map[string]sourcetest.File) (sourcetest.Source, pack.Ref) {
			dir := t.TempDir()
			makeRepository(t, dir, "", files)
			return newClient(t, git.Options{}), parse(t, "git+"+gittest.Serve(t, dir)+"/o/r.git#v1.0.0")
		})
	})
	t.Run("subdirectory", func(t *testing.T) {
		t.Parallel()
		sourcetest.RunSample(t, func(t *testing.T, files map[string]sourcetest.File) (sourcetest.Source, pack.Ref) {
			dir := t.TempDir()
			makeRepository(t, dir, "packs/tools/", files)
			return newClient(t, git.Options{}), parse(t, "git+"+gittest.Serve(t, dir)+"/o/r.git//packs/tools")
		})
	})
	t.Run("filter", func(t *testing.T) {
		t.Parallel()
		sourcetest.RunSample(t, func(t *testing.T, files map[string]sourcetest.File) (sourcetest.Source, pack.Ref) {
			dir := t.TempDir()
			makeRepository(t, dir, "", files)
			return newClient(t, git.Options{}), parse(t, "git+"+gittest.Serve(t, dir, gittest.WithFilter())+"/o/r.git")
		})
	})
	t.Run("program", func(t *testing.T) {
		t.Parallel()
		sourcetest.RunSample(t, func(t *testing.T, files map[string]sourcetest.File) (sourcetest.Source, pack.Ref) {
			dir := t.TempDir()
			makeRepository(t, dir, "", files)
			url := gittest.Serve(t, dir, gittest.WithFilter())
			return newClient(t, git.Options{Program: gittest.Git(t)}), parse(t, "git+"+url+"/o/r.git")
		})
	})
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		sourcetest.Run(t, func(t *testing.T, files map[string]sourcetest.File) (sourcetest.Source, pack.Ref) {
			dir := t.TempDir()
			makeRepository(t, dir, "", files)
			return newClient(t, git.Options{}), parse(t, "git+file://"+dir+"/o/r.git")
		})
	})
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
