package catalog

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/watch"
)

// Watch calls changed with a new catalog whenever a skill's frontmatter changes. It makes one call at a time, also
// watches paths that do not exist yet, and returns the context's error when the context ends.
func (c *Catalog) Watch(ctx context.Context, changed func(*Catalog)) error {
	for {
		next, err := c.next(ctx)
		if err != nil {
			return err
		}
		if !next.same(c) {
			changed(next)
		}
		c = next
	}
}

// next waits for a change and returns the new catalog.
func (c *Catalog) next(ctx context.Context) (*Catalog, error) {
	watched := c.watched()
	w, err := watched.watch(ctx)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	// Catch changes between the last scan and the start of the watch.
	if next, err := open(ctx, c.options, c); err != nil || !next.same(c) || !slices.Equal(next.watched(), watched) {
		return next, err
	}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case paths, ok := <-w.Events():
			if !ok {
				return nil, w.Err()
			}
			if !slices.ContainsFunc(paths, watched.has) {
				continue
			}
			next, err := open(ctx, c.options, c)
			if err != nil || !next.same(c) || !slices.Equal(next.watched(), watched) {
				return next, err
			}
		}
	}
}

// watchedPath is a watched path, with the number of levels below it that matter.
type watchedPath struct {
	path  string
	depth int
}

type watchedPaths []watchedPath

// watched returns all paths that the catalog depends on, including the targets of links.
func (c *Catalog) watched() watchedPaths {
	var list watchedPaths
	for _, p := range c.sources.searched {
		list = append(list, watchedPath{p, 1})
	}
	for i, t := range c.trees {
		r := c.roots[i]
		list = append(list, watchedPath{r.dir, r.depth()}, watchedPath{r.real, r.depth()})
		for _, b := range t.dirs {
			for _, n := range b.nodes {
				if n.target != "" && (r.packs || !c.inPacks(n.target)) {
					list = append(list, watchedPath{n.target, 0})
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b watchedPath) int {
		if d := strings.Compare(a.path, b.path); d != 0 {
			return d
		}
		return b.depth - a.depth
	})
	return slices.CompactFunc(list, func(a, b watchedPath) bool { return a.path == b.path }) // keep the deepest
}

// watch starts a watcher. It tries again if a path disappears meanwhile.
func (s watchedPaths) watch(ctx context.Context) (*watch.Watcher, error) {
	const tries = 5
	for n := 1; ; n++ {
		existing := s.nearest()
		w, err := watch.New(existing, watch.Options{Skip: func(dir string) bool { return !s.has(dir) }})
		if err == nil || ctx.Err() != nil || n >= tries && slices.Equal(existing, s.nearest()) {
			return w, err
		}
	}
}

// nearest returns the paths that exist, and for each other path its nearest existing parent.
func (s watchedPaths) nearest() []string {
	var list []string
	for _, p := range s {
		for dir := p.path; ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(dir); err == nil {
				list = append(list, dir)
				break
			}
			if filepath.Dir(dir) == dir {
				break
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// has reports whether a change of path matters: it is watched, above a watched path, or within its levels.
func (s watchedPaths) has(path string) bool {
	for _, p := range s {
		if pathx.Contains(path, p.path) {
			return true
		}
		if rest, ok := pathx.Rel(p.path, path); ok && strings.Count(rest, string(filepath.Separator)) <= p.depth {
			return true
		}
	}
	return false
}

// same reports whether two catalogs have the same skills.
func (c *Catalog) same(o *Catalog) bool {
	if len(c.entries) != len(o.entries) || !reflect.DeepEqual(c.findings, o.findings) {
		return false
	}
	for i := range c.entries {
		a, b := &c.entries[i], &o.entries[i]
		if a.State != b.State || a.Reason != b.Reason || !reflect.DeepEqual(a.Skill, b.Skill) {
			return false
		}
	}
	return true
}
