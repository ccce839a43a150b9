package catalog

import (
	"path/filepath"
	"strings"
)

// declared returns the entries that have a name in their frontmatter or as their directory's, and are available under
// the other one.
func (c *Catalog) declared(name string) (found []Entry) {
	for _, e := range c.entries {
		if (e.Declared == name || e.base == name) && e.Pack == "" && e.State != Shadowed {
			found = append(found, e)
		}
	}
	return found
}

// Bare returns the path of a directory for the skill of a name that does not contain a SKILL.md, "" if there is none.
func (c *Catalog) Bare(name string) string {
	base, pack, exact := strings.Cut(name, "@")
	for i, t := range c.trees {
		r := c.roots[i]
		for _, d := range t.dirs {
			if !r.hasSkillsAt(d.depth()) || exact != r.packs || exact && d.path != pack {
				continue
			}
			for _, n := range d.nodes {
				if n.name == base && n.record == nil {
					return filepath.Join(r.dir, filepath.FromSlash(d.path), n.name)
				}
			}
		}
	}
	return ""
}
