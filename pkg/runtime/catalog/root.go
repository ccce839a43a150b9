package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// root is a directory that is searched for skills.
type root struct {
	dir   string // absolute path by the profile
	real  string // path without links
	layer string
	scope string
	rank  int // index of its entry among the profile's layers

	levels int // maximum depth of skills below the directory, 0 for 1

	// group orders roots before priority does. Consecutive local directories of one entry share a group; each directory
	// of packs has its own.
	group int

	// packs is true if the directory has installed packs, as OWNER/NAME/SKILL. Lock is the path of their lockfile.
	packs bool
	lock  string

	// absent is true if there is a lockfile and the directory of packs does not exist.
	absent bool
}

// depth returns the depth of skills' directories below the root: exactly that in packs, at most that elsewhere.
func (r *root) depth() int {
	if r.packs {
		return 3
	}
	return max(1, r.levels)
}

// hasSkillsAt reports whether directories at a level below the root may contain skills.
func (r *root) hasSkillsAt(level int) bool { return !r.packs || level == r.depth()-1 }

// indexKey returns the root's key in the index.
func (r *root) indexKey() string {
	if r.packs || r.levels <= 1 {
		return r.real
	}
	return fmt.Sprintf("%s\x00%d", r.real, r.levels)
}

// roots returns the existing directories of all layers, the highest precedence first, each real path once.
func (o *Options) roots() rootFinder {
	p := rootFinder{options: o, seen: map[string]bool{}}
	system := o.OS
	if system == "" {
		system = runtime.GOOS
	}
	for rank, layer := range o.Profile.Layers {
		p.group++
		for _, dir := range layer.On(system) {
			p.levels = layer.Depth
			p.add(rank, layer.Name, dir)
		}
	}
	return p
}

// rootFinder collects roots.
type rootFinder struct {
	options     *Options
	roots       []*root
	searched    []string // all searched paths, existing or not, and the lockfiles beside them
	installDirs []string // real paths of skillpm's own directories: packs, and copies under an alias
	seen        map[string]bool
	group       int
	levels      int // those of the current layer
}

// add adds the roots for a directory of a profile.
func (p *rootFinder) add(rank int, layer, dir string) {
	o := p.options
	switch {
	case dir == "{plugins}":
		if o.Project != "" {
			p.packs(rank, layer, ScopeProject, scope.Scope{Kind: scope.KindProject, Root: o.Project})
		}
		p.packs(rank, layer, ScopeUser, o.Paths.User())
	case strings.HasPrefix(dir, "{enterprise}"):
		path := filepath.Join(o.Paths.Enterprise, filepath.FromSlash(strings.TrimPrefix(dir, "{enterprise}")))
		r := &root{dir: path, layer: layer, scope: ScopeMachine, rank: rank}
		if filepath.Base(path) == "plugins" {
			r.packs, r.lock = true, filepath.Join(o.Paths.Enterprise, scope.LockName)
		}
		p.addRoot(r)
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		p.addRoot(&root{dir: o.homePath(dir), layer: layer, scope: ScopeUser, rank: rank})
	case filepath.IsAbs(filepath.FromSlash(dir)):
		p.addRoot(&root{dir: filepath.Clean(filepath.FromSlash(dir)), layer: layer, scope: ScopeMachine, rank: rank})
	case o.Project != "" && filepath.IsLocal(filepath.FromSlash(dir)):
		p.addRoot(&root{
			dir: filepath.Join(o.Project, filepath.FromSlash(dir)), layer: layer, scope: ScopeProject,
			rank: rank,
		})
	}
}

// homePath returns a directory below the home directory, or below the one that an environment variable names instead.
func (o *Options) homePath(dir string) string {
	for prefix, variable := range o.Profile.Moved {
		rest, ok := strings.CutPrefix(dir+"/", strings.TrimSuffix(prefix, "/")+"/")
		if !ok || o.Getenv == nil {
			continue
		}
		if dir := filepath.FromSlash(o.Getenv(variable)); filepath.IsAbs(dir) {
			return filepath.Join(dir, filepath.FromSlash(rest))
		}
	}
	return filepath.Join(o.Paths.Home, filepath.FromSlash(dir[1:]))
}

// packs adds the installed packs of a scope.
func (p *rootFinder) packs(rank int, layer, kind string, s scope.Scope) {
	for _, dir := range []string{s.Plugins(), s.Links()} {
		real, err := pathx.ResolveExisting(dir)
		if parent, perr := pathx.ResolveExisting(filepath.Dir(dir)); err != nil && perr == nil {
			real = filepath.Join(parent, filepath.Base(dir))
		}
		p.installDirs = append(p.installDirs, real)
	}
	p.addRoot(&root{dir: s.Plugins(), layer: layer, scope: kind, rank: rank, packs: true, lock: s.Lock()})
}

// addRoot adds a root if it exists and is not a duplicate.
func (p *rootFinder) addRoot(r *root) {
	r.levels = p.levels
	p.searched = append(p.searched, r.dir)
	if r.lock != "" {
		p.searched = append(p.searched, r.lock)
	}
	if r.packs {
		p.group++
	}
	r.group = p.group
	if r.packs {
		p.group++
	}
	real, err := pathx.ResolveExisting(r.dir)
	if errors.Is(err, fs.ErrNotExist) && r.packs {
		if _, lockErr := os.Stat(r.lock); lockErr == nil {
			real, err, r.absent = r.dir, nil, true
		}
	}
	if err != nil || p.seen[real] {
		return // it does not exist, or a root with higher precedence has the directory
	}
	p.seen[real] = true
	r.real = real
	p.roots = append(p.roots, r)
}
