package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// LinkedPack is a pack whose skills are links to a working copy. Only the state of this machine has such links, neither
// the manifest nor the lockfile.
type LinkedPack struct {
	ID      pack.ID
	Dir     string // absolute
	Version string
	Skills  map[string]string // name -> absolute directory
}

// Linked returns the directories of the linked packs, by pack.
func (w *Workspace) Linked() map[string]string { return maps.Clone(w.state.Linked) }

// SetLinked sets the linked packs that the next change applies.
func (w *Workspace) SetLinked(dirs map[string]string) {
	w.linksChanged, w.linkedBefore = !maps.Equal(dirs, w.state.Linked), w.state.Linked
	w.state.Linked = dirs
}

// IsNewlyLinked reports whether [Workspace.SetLinked] linked a pack.
func (w *Workspace) IsNewlyLinked(id pack.ID) bool {
	_, linked := w.state.Linked[id.String()]
	_, before := w.linkedBefore[id.String()]
	return w.linksChanged && linked && !before
}

// LinksChanged reports whether [Workspace.SetLinked] changed the linked packs.
func (w *Workspace) LinksChanged() bool { return w.linksChanged }

// Writes reports whether the change writes a tree at a path.
func (c *Change) Writes(at string) bool {
	_, ok := c.Trees[at]
	return ok
}

// Links reports whether the change makes a link at a path.
func (c *Change) Links(at string) bool {
	_, ok := c.links[at]
	return ok
}

// ReadLinked reads the pack in a working copy.
func ReadLinked(dir string) (*LinkedPack, error) {
	content, err := pack.Describe(os.DirFS(dir), pack.Ref{Kind: pack.KindPath, URL: filepath.ToSlash(dir)})
	if err != nil {
		return nil, err
	}
	p := &LinkedPack{ID: content.ID, Dir: dir, Version: content.Version, Skills: map[string]string{}}
	for _, s := range content.Skills {
		p.Skills[s.Name] = filepath.Join(dir, filepath.FromSlash(s.Dir))
	}
	return p, nil
}

// linkProblem describes why the directory of a linked pack cannot be used.
func linkProblem(dir string, p *LinkedPack, err error) string {
	if _, statErr := os.Stat(dir); errors.Is(statErr, fs.ErrNotExist) {
		return "which does not exist"
	}
	if err != nil {
		return "but skillpm cannot read the pack in this directory: " + err.Error()
	}
	return "but this directory contains the pack " + p.ID.String()
}

// addLinked adds the linked packs to a layout. If a working copy can't be read, its pack is not linked, with a warning.
func (w *Workspace) addLinked(l *Layout, m *pack.Manifest, lock *pack.Lock) (*pack.Manifest, *pack.Lock) {
	if len(w.state.Linked) == 0 {
		return m, lock
	}
	m, lock = m.Clone(), lock.Clone()
	for _, name := range slices.Sorted(maps.Keys(w.state.Linked)) {
		p, err := ReadLinked(w.state.Linked[name])
		if err != nil || p.ID.String() != name {
			l.Warnings = append(l.Warnings, fmt.Sprintf(
				"%s is linked to %s, %s; remove the link with: skillpm link %[1]s --undo", name, w.state.Linked[name],
				linkProblem(w.state.Linked[name], p, err)))
			continue
		}
		l.Linked[p.ID] = p
		locked := &pack.LockedPack{
			Version: p.Version, Source: "link:" + filepath.ToSlash(p.Dir), Skills: map[string]string{},
		}
		if was, ok := lock.Packs[p.ID]; ok {
			locked.Dependencies = was.Dependencies
		}
		for skill := range p.Skills {
			locked.Skills[skill] = ""
		}
		lock.Packs[p.ID] = locked
		if _, ok := m.Dependency(p.ID); !ok { // as if it were installed last
			m.DevDependencies = append(m.DevDependencies, pack.Dependency{ID: p.ID})
		}
	}
	return m, lock
}

// addLinkedSkill adds the links of one skill of a linked pack. Agents that read the frontmatter see the skill's own
// name, whatever the name of the link.
func (w *Workspace) addLinkedSkill(l *Layout, p *LinkedPack, n pack.NamedSkill) {
	at := w.SkillAt(n.Pack, n.Skill)
	if l.Denial(n.Pack, n.Skill) != nil {
		return
	}
	l.links[at] = p.Skills[n.Skill]
	w.linkAgents(l, at, n.Link)
}

// isOwnLink reports whether a path is a symbolic link in one of skillpm's own directories.
func (w *Workspace) isOwnLink(abs string) bool {
	return (pathx.ContainsStrict(w.Scope.Plugins(), abs) || pathx.ContainsStrict(w.Scope.Links(), abs)) && isLink(abs)
}
