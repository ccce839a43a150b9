package catalog

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Project returns the root of the project that contains the absolute path dir: the nearest directory upward with
// skillpm.yaml, .skillpm, .git, or one of the profile's project directories; else dir itself.
//
// It returns "" in the home directory and in the user's own .skillpm, and does not search the home directory or those
// above it. A parent directory that everybody can write to is not a project, because any user could make it one.
func Project(paths scope.Paths, dir string, p *profile.Profile) string {
	dir = filepath.Clean(dir)
	home, _ := os.Stat(paths.Home) // without a home directory there is nothing to compare with
	marks := markers(p)
	for d := dir; filepath.Dir(d) != d; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if d == paths.Home || home != nil && err == nil && os.SameFile(home, info) {
			if own := filepath.Join(d, scope.DirName); d == dir || pathx.Contains(own, dir) {
				return ""
			}
			return dir
		}
		if err == nil && (d == dir || info.Mode().Perm()&0o002 == 0 || runtime.GOOS == "windows") &&
			marked(d, marks) {
			return d
		}
	}
	if filepath.Dir(dir) == dir || pathx.ContainsStrict(dir, paths.Home) {
		return ""
	}
	return dir
}

// markers returns the file names that identify the root of a project.
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
