package workspace

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
)

// Layout is the desired content of a scope: the trees and links that follow from a manifest, a lockfile, and the
// directories of agents. Paths are slash-separated and relative to the scope's root.
type Layout struct {
	Named        []pack.NamedSkill
	Names        map[string]pack.LockedName
	Conflicts    []pack.Conflict
	Dirs         []AgentDir
	Packs        map[pack.ID]*pack.LockedPack // those of the lockfile, and those that are linked
	Linked       map[pack.ID]*LinkedPack
	Warnings     []string
	trees        map[string]Tree
	links        map[string]string        // path -> relative target
	relativeDirs map[[2]string]string     // the relative path from one directory to another
	denied       map[pack.SkillKey]error  // why policies deny skills
	withheld     map[string]pack.SkillKey // see Withheld
}

// Tree is an installed directory.
type Tree struct {
	Pack   pack.ID
	Skill  string
	Digest string // of the pristine tree, in the store
	Alias  string // the name that SKILL.md gets, "" for its own
}

const linkModeCopy = "copy"

// NewLayout computes the desired content of the scope.
func (w *Workspace) NewLayout(m *pack.Manifest, lock *pack.Lock, dirs []AgentDir) (*Layout, error) {
	l := &Layout{Dirs: dirs, Linked: map[pack.ID]*LinkedPack{}, relativeDirs: map[[2]string]string{}}
	var err error
	isTaken := func(name string) bool { return w.hasLocalSkill(dirs, name) }
	l.Named, l.Names, l.Conflicts, err = pack.ResolveNames(pack.Claims(m, lock), aliasesOf(m, lock), w.Lock.Names,
		isTaken)
	if err != nil {
		return nil, err
	}
	if m, lock = w.addLinked(l, m, lock); len(l.Linked) > 0 { // the lockfile must not depend on linked packs
		l.Named, _, l.Conflicts, err = pack.ResolveNames(pack.Claims(m, lock), aliasesOf(m, lock), w.Lock.Names,
			isTaken)
		if err != nil {
			return nil, err
		}
	}
	l.Packs = lock.Packs
	w.findDenied(l)
	l.trees, l.links = make(map[string]Tree, len(l.Named)), make(map[string]string, len(l.Named)*len(dirs))
	for id, p := range lock.Packs {
		for name, digest := range p.Skills {
			if l.Linked[id] != nil {
				continue
			}
			if at := w.SkillAt(id, name); l.Denial(id, name) == nil || !w.isNew(at) {
				l.trees[at] = Tree{Pack: id, Skill: name, Digest: digest}
			}
		}
	}
	for _, n := range l.Named {
		if p := l.Linked[n.Pack]; p != nil {
			w.addLinkedSkill(l, p, n)
			continue
		}
		w.addNamed(l, lock, n, w.linkMode(m))
	}
	return l, nil
}

// Tree returns what belongs in the directory at path, if that is one of a skill.
func (l *Layout) Tree(at string) (Tree, bool) {
	t, ok := l.trees[at]
	return t, ok
}

// Has reports whether a directory of a skill or a link belongs at path.
func (l *Layout) Has(at string) bool {
	_, tree := l.trees[at]
	_, link := l.links[at]
	return tree || link
}

// InstalledLayout is [Workspace.NewLayout] for the scope's own manifest and lockfile.
func (w *Workspace) InstalledLayout() (*Layout, error) {
	dirs, _, err := w.AgentDirs(AgentChoice{})
	if err != nil {
		return nil, err
	}
	return w.NewLayout(w.Manifest, w.Lock, dirs)
}

// addNamed adds what makes one skill visible to agents: its copy under an alias, and a link or copy for every agent.
func (w *Workspace) addNamed(l *Layout, lock *pack.Lock, n pack.NamedSkill, mode string) {
	if l.Denial(n.Pack, n.Skill) != nil {
		return
	}
	t := Tree{Pack: n.Pack, Skill: n.Skill, Digest: lock.Packs[n.Pack].Skills[n.Skill]}
	at := w.SkillAt(n.Pack, n.Skill)
	if n.Alias {
		t.Alias = n.Link
		at = w.Rel(w.Scope.Link(n.Link))
		l.trees[at] = t
	}
	if mode != linkModeCopy {
		w.linkAgents(l, at, n.Link)
		return
	}
	for _, dir := range l.Dirs {
		l.trees[path.Join(dir.real, n.Link)] = t
	}
}

// linkAgents adds a link to a path, under a name, to the directory of every agent.
func (w *Workspace) linkAgents(l *Layout, at, name string) {
	parent, base := path.Split(at)
	for _, dir := range l.Dirs {
		key := [2]string{dir.real, parent}
		up, ok := l.relativeDirs[key]
		if !ok {
			var err error
			if up, err = filepath.Rel(filepath.FromSlash(dir.real), filepath.FromSlash(parent)); err != nil {
				up = w.Scope.Abs(parent)
			}
			l.relativeDirs[key] = up
		}
		l.links[path.Join(dir.real, name)] = up + string(filepath.Separator) + base
	}
}

// linkMode returns how agents' directories get skills: by links, or by copies.
func (w *Workspace) linkMode(m *pack.Manifest) string {
	for _, mode := range []string{m.LinkMode, w.Config.LinkMode} {
		if mode != "" {
			return mode
		}
	}
	if w.machine.OS == "windows" {
		return linkModeCopy
	}
	return "symlink"
}

// aliasesOf returns the manifest's aliases without those of required packs that are not locked yet.
func aliasesOf(m *pack.Manifest, lock *pack.Lock) []pack.Alias {
	return slices.DeleteFunc(slices.Clone(m.Aliases), func(a pack.Alias) bool {
		_, locked := lock.Packs[a.Pack]
		_, required := m.Dependency(a.Pack)
		return required && !locked
	})
}

// hasLocalSkill reports whether an agent's directory has an entry of that name that skillpm did not create.
func (w *Workspace) hasLocalSkill(dirs []AgentDir, name string) bool {
	for _, dir := range dirs {
		at := path.Join(dir.real, name)
		if _, err := os.Lstat(w.Scope.Abs(at)); err == nil && !w.owns(at) {
			return true
		}
	}
	return false
}

// owns reports whether skillpm created the entry at a path below the root: the state has it, or it is a link into one
// of skillpm's own directories.
func (w *Workspace) owns(at string) bool {
	if _, ok := w.state.Trees[at]; ok {
		info, err := os.Lstat(w.Scope.Abs(at))
		return err == nil && info.IsDir() // skillpm did not create a file in its place
	}
	target, err := os.Readlink(w.Scope.Abs(at))
	if err != nil {
		return false
	}
	if recorded, ok := w.state.Links[at]; ok && recorded == target || w.isOwnLink(w.Scope.Abs(at)) {
		return true
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(w.Scope.Abs(at)), target)
	}
	return pathx.ContainsStrict(w.Scope.Plugins(), target) || pathx.ContainsStrict(w.Scope.Links(), target)
}

// expected returns the inventory of a tree once it is installed, and the bytes of its SKILL.md if an alias changes it.
func (m *Machine) expected(t Tree) (bundle.Inventory, []byte, error) {
	s, err := m.Store()
	if err != nil {
		return nil, nil, err
	}
	inv, err := s.Inventory(t.Digest)
	if err != nil || t.Alias == "" {
		return inv, nil, err
	}
	data, err := s.ReadFile(t.Digest, skill.File)
	if err != nil {
		return nil, nil, err
	}
	spliced, err := skill.SpliceName(data, t.Alias)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot install %s@%s as %s: %w", t.Skill, t.Pack, t.Alias, err)
	}
	return withSkillFile(inv, spliced), spliced, nil
}
