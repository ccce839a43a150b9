package skilltest

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Dir is the name of a skill's tests directory.
const Dir = "tests"

// Find returns the directories of skills below root, sorted: those that [skill.Find] returns, and local skills in
// .skillpm/skills. The rest of .skillpm is installed.
func Find(fsys fs.FS, root string) ([]string, error) {
	found, err := skill.Find(fsys, root)
	if err != nil || slices.Contains(found, root) {
		return found, err
	}
	installed := path.Join(".skillpm", "skills")
	err = fs.WalkDir(fsys, root, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case dir != root && (skill.SkipDir(d.Name()) || slices.Contains(found, dir)):
			return fs.SkipDir
		}
		if entries, err := fs.ReadDir(fsys, dir); err != nil || dir != root && skill.Vendored(dir, entries) {
			return cmp.Or(err, fs.SkipDir)
		}
		own, err := skill.Find(fsys, path.Join(dir, installed))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		found = append(found, own...)
		return nil
	})
	slices.Sort(found)
	return found, err
}

// maxFiles limits the number of test files of a skill.
const maxFiles = 200

// Read reads the test files of the skill in a directory, sorted by name. Tests are optional. It joins all errors.
func Read(dir string) ([]*File, error) {
	root, err := safefile.OpenRoot(dir)
	if err != nil {
		return nil, diag.Errorf(diag.NotFound, "cannot open the skill's directory: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root, Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "cannot read the skill's tests: %w", err)
	}
	var files []*File
	var problems []error
	for _, e := range entries {
		if ext := path.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if len(files)+len(problems) == maxFiles {
			return nil, diag.Errorf(diag.Invalid, "%s has more than %d test files", Dir, maxFiles)
		}
		name := path.Join(Dir, e.Name())
		data, err := safefile.ReadIn(root, name, maxFile)
		if err != nil {
			problems = append(problems, diag.Errorf(diag.Invalid, "cannot read %s: %w", name, err))
			continue
		}
		f, err := Parse(name, data)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	if len(problems) == 1 {
		return files, problems[0]
	}
	return files, errors.Join(problems...)
}
