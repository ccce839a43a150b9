package vendored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// Ignored returns warnings about files of the copy that git ignores, so that a clone would lack them. Outside a
// repository there are none.
func Ignored(ctx context.Context, root, dir string) []string {
	names := []string{dir + "/README.md"}
	top := filepath.Join(root, filepath.FromSlash(dir))
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error { // what can't be read has no files
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // as above
		}
		rel, err := filepath.Rel(root, path)
		if err == nil && !bundle.Ignored(d.Name(), false) {
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	status, err := git.StatusOf(ctx, root, names)
	if errors.Is(err, git.ErrNoProgram) {
		return []string{"git is not installed, so skillpm cannot check whether git ignores vendored files"}
	}
	if err != nil {
		return nil
	}
	first, more := "", 0
	for i, s := range status {
		switch {
		case !s.Ignored || i > 0 && names[i] == names[0]:
		case first == "":
			first = names[i]
		default:
			more++
		}
	}
	switch {
	case first == "":
		return nil
	case first == names[0]:
		return []string{fmt.Sprintf("git ignores %s, so clones do not contain the copy; "+
			"remove the line from .gitignore, or run \"git add -f %s\"", dir, dir)}
	case more == 0:
		return []string{fmt.Sprintf("git ignores %s, so clones do not contain the file; run \"git add -f %s\"", first,
			dir)}
	}
	return []string{fmt.Sprintf("git ignores %d vendored files, such as %s, "+
		"so clones do not contain the files; run \"git add -f %s\"", more+1, first, dir)}
}
