package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/sourcetest"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/internal/file"
)

// TestContract checks M2: the contract of every source.
func TestContract(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T, files map[string]sourcetest.File) (sourcetest.Source, pack.Ref) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "pack"), files)
		return file.New(file.Options{Base: dir}), pack.Ref{Kind: pack.KindPath, URL: "./pack"}
	})
}

// write writes files below a directory, or skips the test if the file system does not support them.
func write(t *testing.T, dir string, files map[string]sourcetest.File) {
	t.Helper()
	for path, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if filepath.ToSlash(name) != strings.ReplaceAll(name, `\`, "/") && filepath.Separator == '\\' {
			t.Skip("the file system cannot hold such a name")
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Skipf("the file system cannot hold such a name: %v", err)
		}
		mode := os.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		var err error
		if f.Link != "" {
			err = os.Symlink(f.Link, name)
		} else {
			err = os.WriteFile(name, []byte(f.Data), mode)
		}
		if err != nil {
			t.Skipf("the file system cannot hold such a name: %v", err)
		}
	}
	checkNames(t, dir, files)
}

// checkNames skips the test if the file system changed a name or merged two.
func checkNames(t *testing.T, dir string, files map[string]sourcetest.File) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if _, ok := files[filepath.ToSlash(rel)]; ok {
			found++
		}
		return err
	})
	if err != nil || found != len(files) {
		t.Skipf("the file system keeps %d of %d names: %v", found, len(files), err)
	}
}
