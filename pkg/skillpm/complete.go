package skillpm

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	registryindex "github.com/skillpm/skillpm/registry-index"
)

// KnownPacks returns the names of packs that can be completed without asking anybody: those of the embedded index.
func (c *Client) KnownPacks() []string {
	var names []string
	_ = fs.WalkDir(registryindex.FS, "packs", func(file string, _ fs.DirEntry, err error) error { // an unreadable index completes nothing
		if name, ok := strings.CutSuffix(path.Base(file), ".ndjson"); ok && err == nil {
			names = append(names, path.Base(path.Dir(file))+"/"+name)
		}
		return nil
	})
	slices.Sort(names)
	return names
}

// InstalledNames returns the packs that a scope's manifest requires and the skills that are installed: as agents see
// them, and exactly. It returns nothing where nothing can be read.
func (c *Client) InstalledNames(scopeKind string) (packs, skills []string) {
	if scopeKind == "" {
		scopeKind = scope.KindProject
	}
	w, l, err := c.installed(scopeKind)
	if err != nil {
		return nil, nil
	}
	for _, d := range w.Manifest.Dependencies {
		packs = append(packs, d.ID.String())
	}
	for _, n := range l.Named {
		skills = append(skills, n.Link, n.Skill+"@"+n.Pack.String())
	}
	slices.Sort(skills)
	return packs, slices.Compact(skills)
}

// LinkedNames returns the packs that are linked in a scope, nothing where nothing can be read.
func (c *Client) LinkedNames(scopeKind string) []string {
	w, err := c.machine.Open(scopeKind, false)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(w.Linked()))
}
