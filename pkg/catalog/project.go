package catalog

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skillpm/skillpm/pkg/profile"
	"github.com/skillpm/skillpm/pkg/scope"
)

// Project returns the root of the project that a directory, which is absolute, is in: the nearest one upward that holds
// skillpm.yaml, .skillpm, .git, or one of the profile's directories for projects; else the directory itself. The home
// directory and those above it are none, so that it returns "" there. Neither is a directory above that everybody may
// write to.
func Project(paths scope.Paths, dir string, p *profile.Profile) string {
	dir = filepath.Clean(dir)
	home, _ := os.Stat(paths.Home) // without one there is nothing to compare with
	same := func(at string, info os.FileInfo) bool {
		return at == paths.Home || home != nil && info != nil && os.SameFile(home, info)
	}
	marks := markers(p)
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if same(at, info) || scope.Within(at, paths.Home) {
			if at == dir || filepath.Base(dir) == scope.DirName || scope.Within(filepath.Join(at, scope.DirName), dir) {
				return ""
			}
			return dir
		}
		if err == nil && (at == dir || info.Mode().Perm()&0o002 == 0 || runtime.GOOS == "windows") && marked(at, marks) {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// markers returns what the root of a project holds.
func markers(p *profile.Profile) []string {
	marks := []string{scope.ManifestName, scope.DirName, ".git"}
	for _, layer := range p.Layers {
		for _, dir := range layer.On(runtime.GOOS) {
			if rel, ok := strings.CutPrefix(dir, "./"); ok && rel != "" {
				marks = append(marks, filepath.FromSlash(rel))
			}
		}
	}
	return marks
}

func marked(dir string, marks []string) bool {
	for _, m := range marks {
		if _, err := os.Lstat(filepath.Join(dir, m)); err == nil {
			return true
		}
	}
	return false
}
