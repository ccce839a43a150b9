package catalog

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/skillpm/skillpm/pkg/watch"
)

// Watch calls changed with a new catalog whenever stage 1 of any skill changes, one call at a time, until the context ends,
// whose error it then returns.
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

// next waits until something that the catalog is made of may have changed, and returns the catalog of then.
func (c *Catalog) next(ctx context.Context) (*Catalog, error) {
	watched := c.watched()
	w, err := watch.New(nearest(watched), watch.Options{Skip: func(dir string) bool { return !related(watched, dir) }})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	// what changed between the last look and the watch
	if next, err := open(ctx, c.options, c); err != nil || !next.same(c) {
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
			if !slices.ContainsFunc(paths, func(p string) bool { return related(watched, p) }) {
				continue
			}
			next, err := open(ctx, c.options, c)
			if err != nil || !next.same(c) {
				return next, err
			}
		}
	}
}

// watched returns all that the catalog is made of, and what links lead to.
func (c *Catalog) watched() []string {
	paths := slices.Clone(c.places.all)
	for i, t := range c.trees {
		if c.roots[i].real != c.roots[i].dir {
			paths = append(paths, c.roots[i].real)
		}
		for _, b := range t.dirs {
			for _, n := range b.nodes {
				if n.target != "" && !c.inPacks(n.target) {
					paths = append(paths, n.target)
				}
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// nearest returns the paths that exist, and of the others what is nearest above them.
func nearest(paths []string) []string {
	var list []string
	for _, p := range paths {
		for at := p; ; at = filepath.Dir(at) {
			if _, err := os.Stat(at); err == nil {
				list = append(list, at)
				break
			}
			if filepath.Dir(at) == at {
				break
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// related reports whether a path is one of the others, below one, or above one.
func related(paths []string, path string) bool {
	for _, p := range paths {
		if p == path {
			return true
		}
		if _, ok := within(p, path); ok {
			return true
		}
		if _, ok := within(path, p); ok {
			return true
		}
	}
	return false
}

// same reports whether two catalogs say the same of every skill.
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
