package pack

import (
	"io/fs"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// mostMembers is how many packs of a workspace a hint names.
const mostMembers = 5

// checkNoWorkspace refuses a directory that is the root of a workspace and no pack: what is in it is several packs.
func (c *Content) checkNoWorkspace(fsys fs.FS, at string) error {
	if c.Manifest == nil || len(c.Manifest.Workspace) == 0 || !c.Manifest.Name.IsZero() {
		return nil
	}
	err := diag.Errorf(diag.Invalid, "%s is the root of a workspace, and no pack", at)
	var names []string
	for _, dir := range members(fsys, c.Manifest.Workspace) {
		if len(names) == mostMembers {
			names = append(names, "…")
			break
		}
		names = append(names, path.Join(at, dir))
	}
	if len(names) == 0 {
		return err.WithHint("name the directory of one of its packs")
	}
	return err.WithHint("name one of its packs: %s", strings.Join(names, ", "))
}

// members returns the directories that the patterns of a workspace mean and that hold a manifest, sorted.
func members(fsys fs.FS, patterns []string) []string {
	var dirs []string
	_ = fs.WalkDir(newBounded(fsys), ".", func(at string, d fs.DirEntry, err error) error { // it is only for a hint
		if err != nil || !d.IsDir() || at == "." {
			return nil //nolint:nilerr // as above
		}
		if strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" {
			return fs.SkipDir
		}
		for _, p := range patterns {
			if !MatchGlob(strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/"), at) {
				continue
			}
			if _, err := fs.Stat(fsys, path.Join(at, ManifestName)); err == nil {
				dirs = append(dirs, at)
				break
			}
		}
		return nil
	})
	return dirs
}
