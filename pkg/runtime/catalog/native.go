package catalog

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/skill"
)

// At returns the skill in a directory, or the one that a SKILL.md belongs to, whatever links lead there. A copy of a
// pack's skill in an agent's directory, or under an alias, is that skill. It returns false for a directory that the
// catalog does not have.
func (c *Catalog) At(path string) (Entry, bool) {
	dir := path
	if filepath.Base(path) == skill.File {
		dir = filepath.Dir(path)
	}
	real, err := pathx.ResolveExisting(dir)
	if err != nil {
		return Entry{}, false
	}
	parents := resolvedParents{}
	for copied, s := range c.copies {
		if parents.resolve(copied) == real {
			return c.entryOf(s)
		}
	}
	aliasScope := c.aliasScope(real)
	for _, e := range c.entries {
		base := e.base
		if e.real != "" {
			base = filepath.Base(e.real)
		}
		switch {
		case aliasScope != "":
			if e.Pack != "" && e.Scope == aliasScope && e.alias == filepath.Base(real) {
				return e, true
			}
		case e.real == real, base == filepath.Base(real) && e.real == "" && parents.resolve(e.Dir) == real:
			return e, true
		}
	}
	return Entry{}, false
}

// aliasScope returns the scope whose directory of copies under aliases contains a directory, "" for none.
func (c *Catalog) aliasScope(real string) string {
	for kind, s := range map[string]scope.Scope{
		ScopeProject: {Kind: scope.KindProject, Root: c.options.Project}, ScopeUser: c.options.Paths.User(),
	} {
		links, err := pathx.ResolveExisting(s.Links())
		if s.Root != "" && err == nil && filepath.Dir(real) == links {
			return kind
		}
	}
	return ""
}

// entryOf returns the entry of a skill.
func (c *Catalog) entryOf(s *Skill) (Entry, bool) {
	for _, e := range c.entries {
		if e.Skill == s {
			return e, true
		}
	}
	return Entry{}, false
}

// Native returns the skills with a name that an agent finds in the directories of its profile, in their order: an
// agent loads the first one, unless the profile is unordered. The agent does not look into skillpm's own directories,
// but links there count. Unknown are the directories of such skills that the catalog does not have.
func (c *Catalog) Native(name string) (found []Entry, unknown []string) {
	seen := map[*Skill]bool{}
	add := func(e Entry) {
		if !seen[e.Skill] {
			seen[e.Skill], found = true, append(found, e)
		}
	}
	for _, r := range c.roots {
		if r.packs || pathx.Contains(c.options.Paths.Enterprise, r.dir) {
			continue
		}
		dir := filepath.Join(r.dir, name)
		if info, err := os.Stat(filepath.Join(dir, skill.File)); err == nil && info.Mode().IsRegular() &&
			filepath.IsLocal(name) {
			if e, ok := c.At(dir); ok {
				add(e)
			} else {
				unknown = append(unknown, dir)
			}
		}
		for _, e := range c.entries {
			if (e.base == name || e.Declared == name) && strings.HasPrefix(e.Dir, r.dir+string(filepath.Separator)) {
				add(e)
			}
		}
	}
	return found, unknown
}

// resolvedParents caches the resolved parents of directories.
type resolvedParents map[string]string

// resolve returns a directory, which is not a link, without the links above it; "" if it does not exist.
func (p resolvedParents) resolve(dir string) string {
	above := filepath.Dir(dir)
	real, known := p[above]
	if !known {
		real, _ = pathx.ResolveExisting(above)
		p[above] = real
	}
	if real == "" {
		return ""
	}
	return filepath.Join(real, filepath.Base(dir))
}
