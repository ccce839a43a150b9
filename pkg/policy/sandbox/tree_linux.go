package sandbox

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// tree is the part of the file system that a command sees.
type tree struct {
	disk  *disk
	links map[string]string
	paths map[string]visiblePath
}

func newTree() *tree {
	return &tree{disk: new(disk), links: map[string]string{}, paths: map[string]visiblePath{}}
}

// add adds the resolved path, with the links on the way to it. It skips a path that does not exist.
func (t *tree) add(path string, write bool) {
	resolved, links := t.disk.follow(path)
	info, err := os.Lstat(resolved)
	if err != nil || resolved == "/" {
		return
	}
	for _, l := range links {
		t.links[l.Path] = l.Target
	}
	t.paths[resolved] = visiblePath{Path: resolved, Dir: info.IsDir(), Write: write || t.paths[resolved].Write}
}

// addLinks adds the links on the way to a path.
func (t *tree) addLinks(path string) {
	_, links := t.disk.follow(path)
	for _, l := range links {
		t.links[l.Path] = l.Target
	}
}

// order returns the links and the paths, sorted. It omits paths that another path with the same access contains.
func (t *tree) order() (links []link, paths []visiblePath) {
	for path, target := range t.links {
		links = append(links, link{path, target})
	}
	slices.SortFunc(links, func(a, b link) int { return cmp.Compare(a.Path, b.Path) })
	all := make([]visiblePath, 0, len(t.paths))
	for _, p := range t.paths {
		all = append(all, p)
	}
	sortPaths(all)
	for _, p := range all {
		outer := innermost(paths, p.Path)
		if outer != nil && outer.Write == p.Write {
			continue
		}
		paths = append(paths, p)
		if outer == nil || p.Write {
			continue
		}
		// A mount point cannot be renamed. Otherwise the command could rename a directory above it, and put another in
		// its position.
		for dir := filepath.Dir(p.Path); pathx.ContainsStrict(outer.Path, dir); dir = filepath.Dir(dir) {
			paths = append(paths, visiblePath{Path: dir, Dir: true, Write: true})
		}
	}
	sortPaths(paths)
	return links, slices.CompactFunc(paths, func(a, b visiblePath) bool { return a.Path == b.Path })
}

// sortPaths sorts paths before those below them.
func sortPaths(paths []visiblePath) {
	slices.SortStableFunc(paths, func(a, b visiblePath) int { return cmp.Compare(a.Path+"/", b.Path+"/") })
}

// innermost returns the innermost of paths that contains path, nil for none.
func innermost(paths []visiblePath, path string) *visiblePath {
	for i := len(paths) - 1; i >= 0; i-- {
		if pathx.Contains(paths[i].Path, path) {
			return &paths[i]
		}
	}
	return nil
}

// disk caches the properties of paths while a command is prepared.
type disk struct{ pathx.Snapshot }

// follow resolves an absolute path, and returns the links on the way. If that fails, it returns the path unchanged,
// because the command cannot resolve it either.
func (d *disk) follow(path string) (resolved string, links []pathx.Link) {
	if !filepath.IsAbs(path) {
		path = "/" + path // not relative to skillpm's working directory, which the command may not see
	}
	resolved, links, _ = d.Follow(path)
	return resolved, links
}

// real returns the resolved paths.
func (d *disk) real(paths []string) []string {
	resolved := make([]string, 0, len(paths))
	for _, path := range paths {
		real, _ := d.follow(path)
		resolved = append(resolved, real)
	}
	return resolved
}

// open returns why a path must not become visible: it contains a hidden path, or would be writable below one.
func (d *disk) open(path string, hidden []string, write bool) error {
	if !filepath.IsAbs(path) {
		return diag.Errorf(diag.Invalid, "cannot confine a command to %q: the path is not absolute", path)
	}
	resolved, _ := d.follow(path)
	for _, h := range hidden {
		if pathx.Contains(resolved, h) ||
			write && pathx.Contains(h, resolved) && (h != "/dev" || !pathx.Contains("/dev/shm", resolved)) {
			err := diag.Errorf(diag.Denied, "the sandbox cannot open %s: skillpm hides %s from commands", path, h)
			if pathx.ContainsStrict(resolved, h) {
				return err.WithHint("work in a subdirectory of the home directory, such as a project")
			}
			return err.WithHint("remove the path from execution.allowed-paths, because no skill may access it")
		}
	}
	return nil
}

// lookup returns the value of an environment variable; the last one counts.
func lookup(env []string, name string) (value string) {
	for _, v := range env {
		if after, ok := strings.CutPrefix(v, name+"="); ok {
			value = after
		}
	}
	return value
}
